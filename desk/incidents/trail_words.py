"""The words for the events of incidents in the audit trail."""

from typing import Final

from desk.audit.words import Facts, Words
from desk.incidents.models import Incident


def _incident(facts: Facts) -> str:
    return str(facts.get("kind", "")).replace("-", " ").replace("_", " ")


WORDS: Final = Words(
    name="incident",
    title="Incidents",
    noun="incident",
    mark="I-",
    also=("closing",),
    first=("opened",),
    content=_incident,
    decisions=("closed", "closing_requested"),
    model=Incident,
    account="scope",
    sentences={
        "opened": "{who} opened {it}.",
        "acknowledged": "{who} took on {it}.",
        "handed_back": "{who} handed back {it}.",
        "cleared": "{who} resolved {it}: its cause is gone.",
        "closing_requested": "{who} asked a second person to close {it}.",
        "closed": "{who} closed {it}.",
        "gone": "{who} noted that the cause of {it} is gone.",
    },
)
