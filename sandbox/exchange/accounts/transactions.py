"""The record of every movement that customers see, with an index that grows at each change of any record; and what is
known of a payout beyond its record.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, StrEnum
from uuid import UUID

from sandbox.amounts import EXACT, text_of
from sandbox.engine.clock import instant_text

FIRST_INDEX = 7_200_000_000
WIDEST_GAP = 3  # the index is global and not dense


class Status(StrEnum):
    """How far a transaction is."""

    CREATED = "created"
    PENDING = "pending"
    FAILED = "failed"
    SUCCESS = "success"


@dataclass(slots=True, kw_only=True)
class Transaction:
    """One transaction. `amount` is what moves (for a payout: what arrives), `fee` comes on top.

    `digits` is how many digits after the point amounts are shown with; `listed_ms` is when listings begin to show it.
    `pace_ms` is after how long its network confirms it once more, also when it has ended; 0 where nothing is known of
    that.
    """

    id: str
    account: str
    type: str
    currency: str
    amount: Decimal
    digits: int
    created_ms: int
    listed_ms: int
    status: Status = Status.CREATED
    index: int = 0
    updated_ms: int = 0
    sub_type: str = ""
    fee: Decimal | None = None
    address: str = ""
    payment_id: str = ""
    hash: str = ""
    confirmations: int | None = None
    pace_ms: int = 0
    public_comment: str = ""
    error_code: str = ""
    senders: tuple[str, ...] = ()
    offchain_id: tuple[str, ...] = ()

    def wire(self, *, echo_comment: bool = True, show_senders: bool = False) -> dict[str, object]:
        """The Transaction record of the REST interface; members without a value are absent."""
        record: dict[str, object] = {
            "id": self.id,
            "index": self.index,
            "type": self.type,
            "subType": self.sub_type,
            "status": self.status.value,
            "currency": self.currency,
            "amount": text_of(self.amount, self.digits),
            "fee": None if self.fee is None else text_of(self.fee),
            "address": self.address,
            "paymentId": self.payment_id,
            "hash": self.hash,
            "confirmations": self.confirmations,
            "publicComment": self.public_comment if echo_comment else "",
            "errorCode": self.error_code,
            "senders": list(self.senders) if show_senders and self.type == "payin" else None,
            "offchainId": list(self.offchain_id) or None,
            "createdAt": instant_text(self.created_ms),
            "updatedAt": instant_text(self.updated_ms),
        }
        return {name: value for name, value in record.items() if value is not None and value != ""}


class Transactions:
    """All transactions of one world, found by id and listed by account in the order of their creation."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._by_id: dict[str, Transaction] = {}
        self._by_account: dict[str, list[Transaction]] = {}
        self.last_index = FIRST_INDEX

    def new_id(self) -> str:
        """An id that no transaction has: a UUID of the world's own dice."""
        return str(UUID(int=self._draw.getrandbits(128), version=4))

    def add(self, transaction: Transaction) -> None:
        """Takes in a new transaction."""
        self._by_id[transaction.id] = transaction
        self._by_account.setdefault(transaction.account, []).append(transaction)

    def touch(self, transaction: Transaction, at_ms: int) -> None:
        """Gives the transaction the next index and the instant of its change."""
        self.last_index += 1 + self._draw.randrange(WIDEST_GAP)
        transaction.index = self.last_index
        transaction.updated_ms = at_ms

    def find(self, transaction_id: str) -> Transaction | None:
        """The transaction of this id, whosesoever it is."""
        return self._by_id.get(transaction_id)

    def of_account(self, account: str) -> list[Transaction]:
        """The account's transactions, oldest first."""
        return self._by_account.get(account, [])

    def every(self) -> Iterable[Transaction]:
        """All transactions, oldest first."""
        return self._by_id.values()

    def __len__(self) -> int:
        return len(self._by_id)


class Phase(Enum):
    """Whether a payout waits for its owner, was decided to go out, or was called off."""

    HELD = "held"
    COMMITTED = "committed"
    ROLLED_BACK = "rolled back"


@dataclass(slots=True)
class Payout:
    """A payout: `net` arrives, `fee` comes on top, both are reserved until it ends.

    `step` grows at each move; a timer set for an earlier step does nothing.
    """

    id: str
    account: str
    currency: str
    net: Decimal
    fee: Decimal
    phase: Phase = Phase.HELD
    step: int = 0
    ended: bool = False

    @property
    def total(self) -> Decimal:
        """What leaves the account."""
        return EXACT.add(self.net, self.fee)
