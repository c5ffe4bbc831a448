"""The exchange as the domain asks for it: one explicit method for each question, and `call` for every documented one.

Two rules live here and nowhere else. A withdrawal leaves only with `autoCommit=false` in the bytes about to be sent.
And whatever is not a read goes through `Transport.send`: once, and an answer that can't be read is an unknown outcome.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Generic, TypeVar
from urllib.parse import parse_qsl

import msgspec

from exchange_ops.wire import catalogue, records
from wire import operation as operations
from wire import records as wire_records
from wire.errors import BadReply, CallFailed, OutcomeUnknown, Refused
from wire.operation import Operation, Request
from wire.transport import Answer, Transport

T = TypeVar("T")
PAGE = 1000  # the most that the exchange gives in one answer (exchange REST, Limits)
HIGHEST_INDEX = 2**63 - 2  # an index is a 64-bit integer (supplement 2.10), and we ask for the one after it
_AUTHORIZATION_REFUSALS = frozenset({1001, 1002, 1003, 1004})


class UnknownOperation(ValueError):
    """There is no operation of that name in the catalogue."""


class WouldPayAtOnce(RuntimeError):
    """The withdrawal about to be sent does not say autoCommit=false: it would be paid without anybody's approval."""


@dataclass(frozen=True, slots=True)
class Aside:
    """One element of a list that could not be read: its text, why, and what could still be told of it."""

    content: str
    reason: str
    exchange_id: str = ""
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """The elements of a list that could be read, in its order, and those that could not."""

    records: tuple[T, ...]
    asides: tuple[Aside, ...] = ()


class ExchangeClient:
    """One key at the exchange. `date_seen` hears the Date of every answer, `rejected` when the key is turned down.

    Every method raises `Refused`, `Unreachable` or, for a read, `BadReply`, and for anything else `OutcomeUnknown`
    (`wire.errors`). Not for use by two threads at once.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        date_seen: Callable[[datetime], None] | None = None,
        rejected: Callable[[Refused], None] | None = None,
    ) -> None:
        self._transport = transport
        self._date_seen = date_seen
        self._rejected = rejected

    def close(self) -> None:
        """Let go of the connections."""
        self._transport.close()

    def call(self, operation: str, **arguments: object) -> Any:
        """Any operation of the catalogue by its name, with the parameters under their own names; gives its record."""
        row = _row(operation)
        answer = self._exchange(row, arguments)
        try:
            return wire_records.decode(answer.body, row.result)
        except BadReply as problem:
            if row.method == "GET":
                raise
            raise OutcomeUnknown(f"The answer can't be read: {problem.reason}", {"status": answer.status}) from problem

    def listing(self, operation: str, **arguments: object) -> Listing[Any]:
        """A read whose reply is a list: each element by itself, so that one bad record doesn't hide the others."""
        row = _row(operation)
        if row.method != "GET" or getattr(row.result, "__origin__", None) is not list:
            raise UnknownOperation(f"{operation} does not give a list.")
        (kind,) = row.result.__args__  # type: ignore[attr-defined]  # checked above: list[Record]
        return read_each(self._exchange(row, arguments).body, kind)

    # Public market data ----------------------------------------------------------------------------------------------

    def get_currencies(self) -> Listing[records.Currency]:
        """All currencies."""
        return self.listing("get_currencies")

    def get_symbols(self) -> Listing[records.Symbol]:
        """All symbols."""
        return self.listing("get_symbols")

    def get_tickers(self) -> Listing[records.Ticker]:
        """The last 24 hours of all symbols."""
        return self.listing("get_tickers")

    # Reading the account ---------------------------------------------------------------------------------------------

    def get_balances(self) -> Listing[records.Balance]:
        """The bank account. Right: Payment information."""
        return self.listing("get_balances")

    def get_trading_balances(self) -> Listing[records.Balance]:
        """The trading account, zeros included. Right: Orderbook, History, Trading balance."""
        return self.listing("get_trading_balances")

    def get_used_addresses(self, *, currency: str) -> list[records.UsedAddress]:
        """The last ten different addresses that were withdrawn to; long-unused ones may be left out."""
        addresses: list[records.UsedAddress] = self.call("get_used_addresses", currency=currency)
        return addresses

    def is_own_address(self, *, address: str) -> bool:
        """Whether the address belongs to the account itself."""
        answer: records.Outcome = self.call("is_own_address", address=address)
        return answer.result

    def estimate_withdrawal(self, *, currency: str, amount: Decimal) -> Decimal:
        """The fee that a withdrawal of `amount` would cost now, in its own currency."""
        answer: records.Fee = self.call("estimate_withdrawal", currency=currency, amount=amount)
        return answer.fee

    def get_transaction(self, *, exchange_id: str) -> records.Transaction:
        """One entry of the ledger; `Refused` with 20004 when there is none of that id."""
        found: records.Transaction = self.call("get_transaction", id=exchange_id)
        return found

    def get_transactions(
        self, *, since_index: int = 0, limit: int = PAGE, currency: str | None = None
    ) -> list[records.Transaction]:
        """One page of the ledger from index `since_index` (included) on, ascending; one unreadable record fails it."""
        found: list[records.Transaction] = self.call("get_transactions", **_page(since_index, limit, currency))
        return found

    def transactions_after(self, *, index: int, limit: int = PAGE) -> Iterator[Listing[records.Transaction]]:
        """Pages of the ledger with indexes above `index`, ascending, until a page is not full.

        Each page starts after the last index of the one before and never at an offset: an entry that changes while we
        read moves to a higher index, where this walk meets it again, and nothing can slip past.
        """
        while True:
            page = self.listing("get_transactions", **_page(index + 1, limit, None))
            yield page
            if len(page.records) + len(page.asides) < limit:
                return
            found = [record.index for record in page.records] + [aside.index or 0 for aside in page.asides]
            furthest = max(one for one in [*found, index] if one <= HIGHEST_INDEX)
            if furthest <= index:
                raise BadReply("The ledger's listing does not move on: a full page without a higher index.")
            index = furthest

    # Money -----------------------------------------------------------------------------------------------------------

    def create_withdrawal(
        self,
        *,
        currency: str,
        amount: Decimal,
        address: str,
        payment_id: str = "",
        include_fee: bool = False,
        public_comment: str = "",
    ) -> str:
        """Reserve a payout without paying it, and give its id: it waits an hour for commit or rollback.

        There is no way to have it paid at once: autoCommit is always false. Never send it again after `OutcomeUnknown`.
        """
        optional = {"paymentId": payment_id, "publicComment": public_comment}
        answer: records.Identifier = self.call(
            "create_withdrawal",
            currency=currency,
            amount=amount,
            address=address,
            includeFee=include_fee,
            autoCommit=False,
            **{name: text for name, text in optional.items() if text},
        )
        return answer.id

    def commit_withdrawal(self, *, exchange_id: str) -> bool:
        """Pay a reserved payout. Idempotent; what false means is not documented, so the ledger decides."""
        answer: records.Outcome = self.call("commit_withdrawal", id=exchange_id)
        return answer.result

    def rollback_withdrawal(self, *, exchange_id: str) -> bool:
        """Release a reserved payout. Idempotent; what false means is not documented, so the ledger decides."""
        answer: records.Outcome = self.call("rollback_withdrawal", id=exchange_id)
        return answer.result

    # One way out -----------------------------------------------------------------------------------------------------

    def _exchange(self, row: Operation, arguments: dict[str, object]) -> Answer:
        request = operations.bind(row, arguments)
        if row.name == "create_withdrawal":
            _refuse_to_pay_at_once(request)
        try:
            answer = self._transport.read(request) if row.method == "GET" else self._transport.send(request)
        except CallFailed as failure:
            self._hear_date(failure.date)
            if self._rejected is not None and isinstance(failure, Refused) and failure.code in _AUTHORIZATION_REFUSALS:
                self._rejected(failure)
            raise
        self._hear_date(answer.date)
        return answer

    def _hear_date(self, date: datetime | None) -> None:
        if date is not None and self._date_seen is not None:
            self._date_seen(date)


def read_each(body: bytes, kind: Any) -> Listing[Any]:
    """The elements of a JSON list, each read by itself: the ones that can't be read come as asides.

    Raises `BadReply` when the body is no list at all.
    """
    try:
        elements = msgspec.json.decode(body, type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise BadReply(f"not a list: {problem}") from None
    found: list[Any] = []
    asides: list[Aside] = []
    for element in elements:
        try:
            found.append(wire_records.decode(bytes(element), kind))
        except BadReply as problem:
            asides.append(_aside(bytes(element), problem.reason))
    return Listing(tuple(found), tuple(asides))


def _aside(element: bytes, reason: str) -> Aside:
    content = element.decode("utf-8", "replace")
    try:
        members = msgspec.json.decode(element)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        members = None
    if not isinstance(members, dict):
        return Aside(content, reason)
    exchange_id, index = members.get("id"), members.get("index")
    return Aside(
        content,
        reason,
        exchange_id if isinstance(exchange_id, str) else "",
        index if isinstance(index, int) and not isinstance(index, bool) else None,
    )


def _row(operation: str) -> Operation:
    row = catalogue.by_name.get(operation)
    if row is None:
        raise UnknownOperation(f"The exchange has no operation {operation!r}.")
    return row


def _page(since_index: int, limit: int, currency: str | None) -> dict[str, object]:
    page: dict[str, object] = {"sort": "ASC", "by": "index", "from": since_index, "limit": limit}
    return page if currency is None else {**page, "currency": currency}


def _refuse_to_pay_at_once(request: Request) -> None:
    """The last look at the bytes: exactly one autoCommit, it says false, and it travels in the body."""
    sent = [
        text for name, text in parse_qsl(request.body.decode("ascii"), keep_blank_values=True) if name == "autoCommit"
    ]
    if sent != ["false"] or request.query or request.method != "POST":
        raise WouldPayAtOnce("This withdrawal was not sent: it does not say autoCommit=false, so it would pay at once.")
