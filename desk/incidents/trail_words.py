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
        "acknowledged": "{who} assigned {it} to themselves.",
        "handed_back": "{who} unassigned {it}.",
        "cleared": "{who} resolved {it}: the cause no longer exists.",
        "closing_requested": "{who} requested a second finding to close {it}.",
        "closed": "{who} closed {it}.",
        "gone": "{who} noted that the cause of {it} no longer exists.",
    },
)
