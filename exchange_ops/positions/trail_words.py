"""The words for the events of margin actions in the audit trail."""

from typing import Final

from desk.audit.words import Facts, Words
from exchange_ops.positions import states
from exchange_ops.positions.models import MarginAction


def _content(facts: Facts) -> str:
    kind = states.KINDS.get(str(facts.get("kind")), "")
    return f"{kind[:1].lower()}{kind[1:]} {facts.get('symbol', '')}".strip()


WORDS: Final = Words(
    name="marginaction",
    title="Margin",
    noun="margin action",
    mark="M-",
    first=("asked",),
    content=_content,
    model=MarginAction,
    sentences={
        "asked": "{who} requested {it}.",
        "claimed": "{who} sent {it} to the exchange.",
        "stopped": "{who} stopped {it} before it was sent.",
        "accepted": "{who} noted that the exchange accepted {it}.",
        "refused": "{who} noted that the exchange rejected {it}.",
        "not_sent": "{who} noted that {it} was not sent.",
        "answer_lost": "{who} noted that the response for {it} was lost.",
        "seen": "{who} confirmed that {it} was carried out.",
        "seen_partly": "{who} noted that {it} was partly carried out.",
        "seen_unchanged": "{who} noted that {it} was not carried out.",
        "unexplained": "{who} noted that the exchange does not show whether {it} was carried out.",
        "settled": "{who} closed {it} after checking the exchange.",
    },
)
