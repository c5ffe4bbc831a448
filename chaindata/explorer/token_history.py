"""Token transactions of an address: those of the property layer that wait, and its past ones in the simple ledger."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from chaindata.cache import answers
from chaindata.shared import addresses
from chaindata.shared.addresses import NotAnAddress
from chaindata.shared.pages import TIP_TOPIC, PartFreshness, freshness_of
from chaindata.tokens import tokens
from chaindata.wire.records.slp import ListedTransaction
from chaindata.wire.records.tokens import TokenTransaction

MOST_LISTED = 25


@dataclass(frozen=True, slots=True)
class PendingMove:
    """A transaction of the property layer that waits for a block: its operation, its token and the amount."""

    txid: str
    what: str
    token: str
    name: str
    amount: Decimal | None


@dataclass(frozen=True, slots=True)
class PastMove:
    """A transaction of the simple ledger. `credit` is what the address received by it, zero if all went elsewhere."""

    txid: str
    what: str
    token: str
    symbol: str
    credit: Decimal
    is_valid: bool
    reason: str


@dataclass(frozen=True, slots=True)
class HistoryPart:
    """Both lists, the past one in the service's order; `past_count` is how many past ones there are in all."""

    pending: Sequence[PendingMove]
    past: Sequence[PastMove]
    past_count: int
    is_known: bool
    freshness: PartFreshness


def history(address: str, *, now: datetime) -> HistoryPart:
    """The token transactions that wait, and the past ones."""
    waits, was = answers.read_many(
        [
            ("get_pending_token_transactions", {"address": address}),
            ("get_slp_history_of_address", {"address": address}),
        ],
        now=now,
    )
    pending: list[TokenTransaction] = waits.record if isinstance(waits.record, list) else []
    past: list[ListedTransaction] = was.record if isinstance(was.record, list) else []
    return HistoryPart(
        pending=[_pending(each) for each in pending[:MOST_LISTED]],
        past=[_past(each, address) for each in past[:MOST_LISTED]],
        past_count=len(past),
        is_known=waits.is_known or was.is_known,
        freshness=freshness_of(waits, was, topics=[TIP_TOPIC]),
    )


def _pending(record: TokenTransaction) -> PendingMove:
    token = "" if record.propertyid is None else str(record.propertyid)
    if record.erc721propertyid:
        token = f"{tokens.COLLECTIBLE}-{record.erc721propertyid}"
    return PendingMove(record.txid, record.type, token, record.propertyname or "", record.amount)


def _past(record: ListedTransaction, address: str) -> PastMove:
    details = record.token_details
    outputs = [each for each in details.detail.outputs or [] if each is not None]
    credit = sum((each.amount for each in outputs if _is_at(each.address, address)), Decimal(0))
    return PastMove(
        txid=record.txid,
        what=details.detail.transaction_type.capitalize(),
        token=details.detail.token_id_hex,
        symbol=details.detail.symbol or details.detail.name or "",
        credit=credit,
        is_valid=details.valid,
        reason=details.invalid_reason or "",
    )


def _is_at(text: str | None, address: str) -> bool:
    """Whether an output went to this address; one whose address can't be read did not."""
    try:
        return bool(text) and addresses.printed(text or "") == address
    except NotAnAddress:
        return False
