"""Reading watched addresses: their newest transactions, twenty addresses in a call, and which of them are new.

The cache does not store these answers, because it has no bulk form for pages; the rows of this room are what remains of
them. A reading goes from the newest transaction down to those that are buried and were read before, so that nothing is
missed after an interrupted reading or an hour without a worker. A movement and its incident are written together.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from typing import Final

from django.db import IntegrityError, transaction

from chaindata.cache.freshness import BURIED
from chaindata.cache.service import TimeBudget, outage_sentence
from chaindata.client import ChainClient, Declined
from chaindata.explorer.transaction import making, spending
from chaindata.headers import tips
from chaindata.watching import kinds, states
from chaindata.watching.machine import ADDRESSES, MOVEMENTS
from chaindata.watching.models import ChainMovement, WatchedAddress
from chaindata.wire import catalogue
from chaindata.wire.records.addresses import AddressDetails, AddressTransactions
from chaindata.wire.records.chain import Transaction
from desk import clock
from desk.incidents import review
from desk.live import announcements
from wire import records
from wire.errors import BadReply, CallFailed

OpenClient = Callable[[], ChainClient]
First = Mapping[str, Mapping[str, bytes]]  # the first answers by operation and address
READ_EVERY: Final = timedelta(seconds=30)
MOST_AT_ONCE: Final = 40
MOST_PAGES: Final = 50  # of ten transactions, of one address in one reading
_TRANSACTIONS, _DETAILS = "get_address_transactions", "get_address_details"
_BULKS = {_TRANSACTIONS: "get_transactions_of_addresses", _DETAILS: "get_details_of_addresses"}


class CannotFinish(Exception):
    """Not all new transactions were read; the text is the sentence that the page shows."""


def read(*, now: datetime, open_client: OpenClient, only: int | None = None, budget: TimeBudget | None = None) -> int:
    """Read the addresses that are due, or one of them. Returns how many movements are new."""
    rows = _claim(now, only)
    if not rows:
        return 0
    budget = budget or TimeBudget()
    with closing(open_client()) as client:
        try:
            first = {name: _first_pages(client, name, rows) for name in _BULKS}
        except CallFailed as failure:
            for row in rows:
                ADDRESSES.touch(row, last_problem=_sentence(failure))
            return 0
        counts = [_read_one(client, row, first, now, budget) for row in rows if not budget.is_over]
    return sum(counts)


def _claim(now: datetime, only: int | None) -> list[WatchedAddress]:
    """Claim the rows that are due, each by setting when it is due again."""
    is_due = clock.ended("next_action_at", now=now, lasts=READ_EVERY)
    due = WatchedAddress.objects.filter(is_due, state=states.WATCHED, next_action_at__isnull=False)
    due = due if only is None else due.filter(pk=only)
    candidates = list(due.order_by("next_action_at", "pk")[:MOST_AT_ONCE])
    again_at = now + READ_EVERY
    free = WatchedAddress.objects.filter(state=states.WATCHED)
    return [
        row
        for row in candidates
        if free.filter(pk=row.pk, next_action_at=row.next_action_at).update(next_action_at=again_at)
    ]


def _first_pages(client: ChainClient, operation: str, rows: Sequence[WatchedAddress]) -> Mapping[str, bytes]:
    """The first page of each address; none if one address spoils the call. Missing ones are read one by one."""
    try:
        return client.parts(_BULKS[operation], [row.address for row in rows], page=0)
    except (Declined, BadReply):
        return {}


def _read_one(
    client: ChainClient,
    row: WatchedAddress,
    first: First,
    now: datetime,
    budget: TimeBudget,
) -> int:
    tip, problem, listed, count = tips.tip(now), "", [], 0
    try:
        details = _record(client, _DETAILS, row, first)
        for page in _pages(client, row, first, budget):
            listed += page.txs
    except (CallFailed, CannotFinish) as failure:
        problem, details = _sentence(failure), None
    for record in reversed(listed):
        count += _store_if_new(row, record, now)
    _follow(row, listed, is_whole=not problem)
    columns: dict[str, object] = {"last_problem": problem}
    if details is not None:
        columns |= _figures(row, details, now, tip.height if tip is not None else None)
    ADDRESSES.touch(row, **columns)
    announcements.announce(row.subject)
    return count


def _record(client: ChainClient, operation: str, row: WatchedAddress, first: First) -> AddressDetails:
    body = first[operation].get(row.address)
    if body is None:
        return client.call(operation, address=row.address)  # type: ignore[no-any-return]  # the record of the catalogue
    return records.decode(body, catalogue.by_name[operation].result)  # type: ignore[no-any-return]


def _pages(client: ChainClient, row: WatchedAddress, first: First, budget: TimeBudget) -> Iterator[AddressTransactions]:
    """Pages from the newest down to what was read before. New arrivals move transactions down and never hide one."""
    body = first[_TRANSACTIONS].get(row.address)
    for number in range(MOST_PAGES):
        if body is not None:
            page: AddressTransactions = records.decode(body, catalogue.by_name[_TRANSACTIONS].result)
            body = None
        elif number and budget.is_over:
            raise CannotFinish("The service is slow: some new transactions were not synced. The next sync will retry.")
        else:
            page = client.call(_TRANSACTIONS, address=row.address, page=number)
        yield page
        heights = [height for each in page.txs if (height := _height(each)) is not None]
        if number + 1 >= page.pages_total or (heights and min(heights) <= row.settled_height):
            return
    raise CannotFinish(f"There are more than {MOST_PAGES * 10} new transactions; the oldest were not synced.")


def _store_if_new(row: WatchedAddress, record: Transaction, now: datetime) -> bool:
    """Store a transaction that is new, with its incident; False if it is not, or is older than the watch."""
    height = _height(record)
    if height is not None and height <= row.from_height:
        return False
    if ChainMovement.objects.filter(watched=row, txid=record.txid).exists():
        return False
    change_sat, spends = _change(record, row.address)
    movement = ChainMovement(watched=row, txid=record.txid, change_sat=change_sat, spends=spends, height=height)
    try:
        with transaction.atomic():
            MOVEMENTS.create(movement, event="seen", now=now)
            review.review_now(kinds.kind_of(movement), now=now, key=kinds.key_of(movement))
    except IntegrityError:
        return False  # another worker was faster
    return True


def _follow(row: WatchedAddress, listed: Sequence[Transaction], *, is_whole: bool) -> None:
    """Update the heights of stored movements; after a complete reading also mark those that are missing from it."""
    heights = {each.txid: _height(each) for each in listed}
    movements = ChainMovement.objects.filter(watched=row)
    for movement in movements.filter(txid__in=heights):
        height = heights[movement.txid]
        if movement.height != height or movement.is_missing:
            MOVEMENTS.touch(movement, height=height, is_missing=False)
    if is_whole:
        open_ones = movements.filter(is_missing=False).exclude(height__lte=row.settled_height).exclude(txid__in=heights)
        for movement in open_ones:
            MOVEMENTS.touch(movement, height=None, is_missing=True)


def _figures(row: WatchedAddress, details: AddressDetails, now: datetime, tip: int | None) -> dict[str, object]:
    settled_height = row.settled_height if tip is None else max(row.settled_height, tip - BURIED)
    return {
        "read_at": now,
        "balance_sat": details.balance_sat,
        "unconfirmed_sat": details.unconfirmed_balance_sat,
        "settled_height": settled_height,
    }


def _change(record: Transaction, address: str) -> tuple[int, bool]:
    """What the transaction changed at the address, in satoshis, and whether it spent from there."""
    outputs = [making(each) for each in record.vout]
    inputs = [spending(each) for each in record.vin]
    mine = [each for each in inputs if each.address == address]
    credit_sat = sum(int(each.coins.scaleb(8)) for each in outputs if each.addresses == [address])
    debit_sat = sum(int(each.coins.scaleb(8)) for each in mine if each.coins is not None)
    return credit_sat - debit_sat, bool(mine)


def _height(record: Transaction) -> int | None:
    return record.blockheight if record.blockhash else None


def _sentence(failure: Exception) -> str:
    if isinstance(failure, CannotFinish):
        return str(failure)
    return outage_sentence(failure)
