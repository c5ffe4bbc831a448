"""How the exchange shows one margin account: read right before a call, and again until the call's result is seen."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from desk.fields import plain
from exchange_ops.client import ExchangeClient
from exchange_ops.wire import records
from wire.errors import Refused

NOT_FOUND: Final = 20032  # supplement 2.2: no margin account, or no position
ZERO: Final = Decimal(0)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`balance` is None where there is no account; without a position its number is None and its quantity zero."""

    balance: Decimal | None = None
    position_id: int | None = None
    quantity: Decimal = ZERO

    @property
    def facts(self) -> dict[str, Any]:
        """As JSON, figures as texts."""
        return {
            "balance": None if self.balance is None else str(plain(self.balance)),
            "position_id": self.position_id,
            "quantity": str(plain(self.quantity)),
        }


def from_facts(facts: dict[str, Any]) -> Snapshot:
    """The snapshot that `facts` wrote; an empty one where nothing was written."""
    balance = facts.get("balance")
    return Snapshot(
        None if balance is None else Decimal(balance), facts.get("position_id"), Decimal(facts.get("quantity", "0"))
    )


def from_record(record: records.MarginAccount) -> Snapshot:
    """The snapshot of an account's record; a closed account has no balance."""
    position = record.position if record.position is not None and record.position.quantity else None
    if not record.margin_balance and position is None:
        return Snapshot()
    return Snapshot(
        record.margin_balance,
        None if position is None else position.id,
        ZERO if position is None else position.quantity,
    )


def read(*, client: ExchangeClient, symbol: str) -> Snapshot:
    """Read the account of a symbol; raises what the call raises."""
    try:
        return from_record(client.get_margin_account(symbol=symbol))
    except Refused as refusal:
        if refusal.code == NOT_FOUND:
            return Snapshot()
        raise
