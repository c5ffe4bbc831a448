"""The words for the events of freezes in the audit trail."""

from collections.abc import Mapping
from typing import Any, Final

from desk.audit.words import Words
from exchange_ops.policy.models import Freeze


def _content(facts: Mapping[str, Any]) -> str:
    scope, reason = str(facts.get("scope", "")), str(facts.get("reason", ""))
    return f"{scope}: {reason}" if scope else reason


WORDS: Final = Words(
    name="freeze",
    title="Freezes",
    noun="freeze no.",
    first=("begun",),
    content=_content,
    everywhere=True,
    decisions=("begun", "thaw_agreed", "thawed"),
    model=Freeze,
    sentences={
        "begun": "{who} ordered {it}.",
        "thaw_agreed": "{who} approved lifting {it}. A second treasurer must approve.",
        "thawed": "{who} lifted {it}.",
        "ledger_accepted": "{who} restarted the exchange's ledger sync from scratch, as accepted in lifting {it}.",
    },
)
