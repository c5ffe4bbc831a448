"""The words for the events of the ledger in the audit trail."""

from typing import Final

from desk.audit.words import Facts, Words, money
from exchange_ops.ledger.models import LedgerAside, LedgerEntry


def _content(facts: Facts) -> str:
    return money(facts, to=str(facts.get("address") or ""))


WORDS: Final = Words(
    name="ledger",
    title="Ledger",
    noun="ledger entry no.",
    first=("foreign_payout",),
    content=_content,
    model=LedgerEntry,
    sentences={"foreign_payout": "{who} reported a payout that was not requested in Countersign: {it}."},
)

RECORDS: Final = Words(
    name="record",
    title="Ledger records",
    noun="ledger record no.",
    model=LedgerAside,
    decisions=("choice_made", "settled"),
    sentences={
        "choice_made": "{who} chose between two versions of {it}.",
        "settled": "{who} confirmed the choice for {it} as the second person.",
    },
)
