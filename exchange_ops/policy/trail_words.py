"""The words for the events of freezes in the audit trail."""

from typing import Final

from desk.audit.words import Words
from exchange_ops.policy.models import Freeze

WORDS: Final = Words(
    name="freeze",
    title="Freezes",
    noun="freeze no.",
    first=("begun",),
    content=lambda facts: str(facts.get("reason", "")),
    decisions=("begun", "thaw_agreed", "thawed"),
    model=Freeze,
    sentences={
        "begun": "{who} froze the account: {it}.",
        "thaw_agreed": "{who} approved lifting {it}. A second treasurer must approve.",
        "thawed": "{who} lifted {it}.",
        "ledger_accepted": "{who} restarted the exchange's ledger sync from scratch, as accepted in lifting {it}.",
    },
)
