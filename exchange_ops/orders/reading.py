"""Reading orders and trades from the exchange: open orders, new ones, trades, and orders that are no longer listed.

New orders are read back in time to a watermark, trades forward by id from another. Both watermarks lag behind what was
read, because the history may list an order half a minute late (supplement 2.8). An order that the desk believes to be
open and the exchange no longer lists is looked up by its id. The exchange deletes orders without trades after a day;
they are kept here.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from desk import clock
from desk.machines.step_clock import Stopwatch
from exchange_ops.client import HIGHEST_INDEX, PAGE, ExchangeClient, Listing
from exchange_ops.keys import clients
from exchange_ops.keys.clients import ClientFor
from exchange_ops.ledger.models import Watermark
from exchange_ops.orders import records as order_records
from exchange_ops.orders import states, trades
from exchange_ops.orders.cancelling import GONE_AFTER
from exchange_ops.orders.models import Order
from exchange_ops.shared import clocks
from exchange_ops.shared.models import Account
from exchange_ops.wire import records
from exchange_ops.wire.catalogue import Right

ORDERS, UNFINISHED, TRADES = "orders by time", "unfinished walk of orders", "trades"
WALK_FOR = timedelta(seconds=10)
SETTLING = timedelta(minutes=2)
MOST_LOOKED_UP = 40  # orders in one round, each a call
_MS = timedelta(milliseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class AccountReading:
    """One reading of an account: when it began, its clock, and what could not be stored."""

    account: Account
    now: datetime
    page_size: int = PAGE
    walk_for: timedelta = WALK_FOR
    changed: int = 0
    problems: list[str] = field(default_factory=list)
    watch: Stopwatch = field(init=False)

    def __post_init__(self) -> None:
        self.watch = Stopwatch(self.now)

    @property
    def is_over_time(self) -> bool:
        """Whether the walk has to leave the rest to the next one."""
        return self.watch.now() - self.now > self.walk_for

    def note(self, intake: order_records.Intake) -> None:
        """Add the result of one listing."""
        self.changed += intake.changed
        self.problems += intake.problems


def read(*, reading: AccountReading, client_for: ClientFor) -> None:
    """Read all orders and trades of an account; raises what the calls raise."""
    account = reading.account
    with clients.client(client_for, account=account, right=Right.ORDERS) as client:
        open_numbers, complete = _active(reading, client)
    with clients.client(client_for, account=account, right=Right.HISTORY) as client:
        _history(reading, client, open_numbers)
        _trades(reading, client)
        if complete:
            _look_up_missing(reading, client, open_numbers)


def _active(reading: AccountReading, client: ExchangeClient) -> tuple[set[int], bool]:
    """The numbers of all open orders, and whether every one of them could be read."""
    numbers: set[int] = set()
    complete = True
    for margin, listing in ((False, client.get_orders()), (True, client.get_margin_orders())):
        listed = {record.id for record in listing.records}
        intake = order_records.store(
            account=reading.account, orders=listing.records, open_numbers=listed, margin=margin, now=reading.now
        )
        reading.note(intake)
        numbers |= listed
        _note_unreadable(reading, "open order", listing)
        complete = complete and not listing.asides
    return numbers, complete


def _history(reading: AccountReading, client: ExchangeClient, open_numbers: set[int]) -> None:
    """New orders back to the watermark, then, if an earlier walk ran out of time, on from where it stopped."""
    account = reading.account
    mark, began = _index(account, ORDERS), _exchange_clock(reading)
    since = _instant(mark) - SETTLING if mark else None
    stopped = _walk(reading, client, open_numbers, since=since, until=None)
    # In whole minutes: each move of the mark writes an entry about its row, and an idle desk would write nothing else.
    minute = began.replace(second=0, microsecond=0)
    Watermark.put(account=account, name=ORDERS, index=_index_of(minute), now=reading.now)
    if stopped is None and (rest := _index(account, UNFINISHED)):
        stopped = _walk(reading, client, open_numbers, since=None, until=_instant(rest))
        Watermark.put(account=account, name=UNFINISHED, index=_index_of(stopped), now=reading.now)
    elif stopped is not None:
        Watermark.put(account=account, name=UNFINISHED, index=_index_of(stopped), now=reading.now)
    if stopped is not None:
        reading.problems.append(f"Loading older orders, back to {stopped:%Y-%m-%d %H:%M} UTC so far.")


def _walk(
    reading: AccountReading,
    client: ExchangeClient,
    open_numbers: set[int],
    *,
    since: datetime | None,
    until: datetime | None,
) -> datetime | None:
    """Read pages back in time; gives the moment at which the walk ran out of time, else None."""
    for page in client.orders_back(since=since, until=until, limit=reading.page_size):
        intake = order_records.store(
            account=reading.account, orders=page.records, open_numbers=open_numbers, now=reading.now
        )
        reading.note(intake)
        _note_unreadable(reading, "order", page)
        if page.records and reading.is_over_time:
            return page.records[-1].created_at + _MS
    return None


def _trades(reading: AccountReading, client: ExchangeClient) -> None:
    """Trades above the watermark, which stays before the first one that is younger than `SETTLING`."""
    account, exchange_clock = reading.account, _exchange_clock(reading)
    settled = _index(account, TRADES)
    for page in client.account_trades_after(trade_id=settled, limit=reading.page_size):
        reading.note(trades.store(account=account, trades=page.records, now=reading.now))
        _note_unreadable(reading, "trade", page)
        settled_numbers = [
            trade.id
            for trade in page.records
            if trade.id <= HIGHEST_INDEX and exchange_clock - trade.timestamp >= SETTLING
        ]
        settled = max([settled, *settled_numbers])
        Watermark.put(account=account, name=TRADES, index=settled, now=reading.now)
        if reading.is_over_time:
            return


def _look_up_missing(reading: AccountReading, client: ExchangeClient, open_numbers: set[int]) -> None:
    """Orders that were open and are not listed any more: how they ended is in the history, if it is not too late."""
    rows = Order.objects.filter(
        clock.older("read_at", reading.now, now=clock.now()), account=reading.account, active=True
    )
    rows = rows.exclude(exchange_id__in=open_numbers).exclude(state=states.CANCELLING)
    for row in rows.order_by("missing_since", "pk")[:MOST_LOOKED_UP]:
        listing = client.get_order_history(client_order_id=row.client_order_id)
        ours = [record for record in listing.records if record.id == row.exchange_id]
        ended = [record for record in ours if record.status not in order_records.ACTIVE_STATUSES]
        if ended:
            reading.note(order_records.store(account=reading.account, orders=ended, now=reading.now))
        else:
            _note_missing(row, reading.now)


def _note_missing(row: Order, now: datetime) -> None:
    """Note that an order is listed nowhere; after a minute it no longer counts as open."""
    if row.missing_since is None or clock.is_future(row.missing_since, now):
        Order.objects.filter(pk=row.pk, missing_since=row.missing_since).update(missing_since=now)
    elif now - row.missing_since >= GONE_AFTER:
        problem = "The order is not in the exchange's open orders or history, so its final status is unknown."
        if Order.objects.filter(pk=row.pk, active=True).update(active=False, last_problem=problem):
            order_records.note(row, {"problem": problem}, now=now)


def _note_unreadable(
    reading: AccountReading, what: str, listing: Listing[records.Order] | Listing[records.AccountTrade]
) -> None:
    reading.problems += [f"One {what} could not be processed: {aside.reason}" for aside in listing.asides]


def _exchange_clock(reading: AccountReading) -> datetime:
    """The earliest time that the exchange's clock can have shown when the reading began."""
    earliest = clocks.at_least(account=reading.account, now=reading.now)
    return reading.now - 2 * clocks.DATE_RESOLUTION if earliest is None else earliest


def _instant(index: int) -> datetime:
    return _EPOCH + index * _MS


def _index_of(instant: datetime | None) -> int:
    return 0 if instant is None else (instant - _EPOCH) // _MS


def _index(account: Account, name: str) -> int:
    index = Watermark.objects.filter(account=account, name=name).values_list("index", flat=True).first()
    return index or 0
