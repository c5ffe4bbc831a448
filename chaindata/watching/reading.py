"""Reading watched addresses: their newest transactions, twenty addresses in a call, and what of it was not seen before.

The answers are not kept by the cache, which knows no bulk of pages: the rows here are what is kept of them. A reading
walks from the newest transaction down to what is buried and was read before, so that one that is broken off, or an
hour without any worker, misses nothing. A movement and its incident are written in one transaction.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from typing import Final

from django.db import IntegrityError, transaction

from chaindata.cache.freshness import BURIED
from chaindata.cache.time_budget import Patience
from chaindata.client import ChainClient, Declined
from chaindata.explorer import transaction as explorer
from chaindata.headers import tip as tips
from chaindata.watching import kinds, machine
from chaindata.watching.models import SENTENCE, ChainMovement, WatchedAddress
from chaindata.watching.mover import ADDRESSES, MOVEMENTS
from chaindata.wire import catalogue
from chaindata.wire.records.addresses import AddressDetails, AddressTransactions
from chaindata.wire.records.chain import Transaction
from desk.incidents import review
from desk.live import announcements
from wire import records as wire_records
from wire.errors import BadReply, CallFailed

OpenClient = Callable[[], ChainClient]
First = Mapping[str, Mapping[str, bytes]]  # of each operation the first answers, by address
READ_EVERY: Final = timedelta(seconds=30)
MOST_AT_ONCE: Final = 40
MOST_PAGES: Final = 50  # of ten transactions, of one address in one reading
_TRANSACTIONS, _DETAILS = "get_address_transactions", "get_address_details"
_BULKS = {_TRANSACTIONS: "get_transactions_of_addresses", _DETAILS: "get_details_of_addresses"}


class CannotFinish(Exception):
    """Not everything that is new was read; the text is the sentence that the page says."""


def read(*, now: datetime, open_client: OpenClient, only: int | None = None, patience: Patience | None = None) -> int:
    """Read the addresses that are due, or one of them; how many movements were new. A service away is asked once."""
    rows = _claimed(now, only)
    if not rows:
        return 0
    patience = patience or Patience()
    with closing(open_client()) as client:
        try:
            first = {name: _first_pages(client, name, rows) for name in _BULKS}
        except CallFailed as failure:
            for row in rows:
                ADDRESSES.touch(row, last_problem=_sentence(failure))
            return 0
        found = [_read_one(client, row, first, now, patience) for row in rows if not patience.is_over]
    return sum(found)


def _claimed(now: datetime, only: int | None) -> list[WatchedAddress]:
    """The rows that are this worker's to read: each is claimed by setting when it is due again."""
    due = WatchedAddress.objects.filter(state=machine.WATCHED, next_action_at__lte=now)
    due = due if only is None else due.filter(pk=only)
    chosen = list(due.order_by("next_action_at", "pk")[:MOST_AT_ONCE])
    again_at = now + READ_EVERY
    free = WatchedAddress.objects.filter(state=machine.WATCHED)
    return [
        row
        for row in chosen
        if free.filter(pk=row.pk, next_action_at=row.next_action_at).update(next_action_at=again_at)
    ]


def _first_pages(client: ChainClient, operation: str, rows: Sequence[WatchedAddress]) -> Mapping[str, bytes]:
    """The first page of each address, none where one spoils the call. Who is not there is asked for by themselves."""
    try:
        return client.parts(_BULKS[operation], [row.address for row in rows], page=0)
    except (Declined, BadReply):
        return {}


def _read_one(
    client: ChainClient,
    row: WatchedAddress,
    first: First,
    now: datetime,
    patience: Patience,
) -> int:
    tip, problem, listed, count = tips.tip(now), "", [], 0
    try:
        details = _record(client, _DETAILS, row, first)
        for page in _pages(client, row, first, patience):
            listed += page.txs
    except (CallFailed, CannotFinish) as failure:
        problem, details = _sentence(failure), None
    for found in reversed(listed):
        count += _is_new(row, found, now)
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
    return wire_records.decode(body, catalogue.by_name[operation].result)  # type: ignore[no-any-return]


def _pages(client: ChainClient, row: WatchedAddress, first: First, patience: Patience) -> Iterator[AddressTransactions]:
    """Pages from the newest down to where everything is known. What arrives meanwhile moves others down, none up."""
    body = first[_TRANSACTIONS].get(row.address)
    for number in range(MOST_PAGES):
        if body is not None:
            page: AddressTransactions = wire_records.decode(body, catalogue.by_name[_TRANSACTIONS].result)
            body = None
        elif number and patience.is_over:
            raise CannotFinish("The service answers too slowly: what is new was read in part, and is read again.")
        else:
            page = client.call(_TRANSACTIONS, address=row.address, page=number)
        yield page
        heights = [height for each in page.txs if (height := _height(each)) is not None]
        if number + 1 >= page.pages_total or (heights and min(heights) <= row.settled_height):
            return
    raise CannotFinish(f"It has more than {MOST_PAGES * 10} new transactions: the oldest of them were not read.")


def _is_new(row: WatchedAddress, found: Transaction, now: datetime) -> bool:
    """Keep a transaction that was not seen before, with its incident; what was there when watching began is none."""
    height = _height(found)
    if height is not None and height <= row.from_height:
        return False
    if ChainMovement.objects.filter(watched=row, txid=found.txid).exists():
        return False
    change_sat, spends = _moved(found, row.address)
    movement = ChainMovement(watched=row, txid=found.txid, change_sat=change_sat, spends=spends, height=height)
    try:
        with transaction.atomic():
            MOVEMENTS.create(movement, event="seen", now=now)
            review.review_now(kinds.of(movement), now=now, key=kinds.key_of(movement))
    except IntegrityError:
        return False  # another worker was faster
    return True


def _follow(row: WatchedAddress, listed: Sequence[Transaction], *, is_whole: bool) -> None:
    """Where known movements stand now; of a whole reading also those that are gone from it."""
    heights = {each.txid: _height(each) for each in listed}
    known = ChainMovement.objects.filter(watched=row)
    for movement in known.filter(txid__in=heights):
        height = heights[movement.txid]
        if movement.height != height or movement.is_missing:
            MOVEMENTS.touch(movement, height=height, is_missing=False)
    if is_whole:
        open_ones = known.filter(is_missing=False).exclude(height__lte=row.settled_height).exclude(txid__in=heights)
        for movement in open_ones:
            MOVEMENTS.touch(movement, height=None, is_missing=True)


def _figures(row: WatchedAddress, details: AddressDetails, now: datetime, tip: int | None) -> dict[str, object]:
    settled = row.settled_height if tip is None else max(row.settled_height, tip - BURIED)
    return {
        "read_at": now,
        "balance_sat": details.balance_sat,
        "unconfirmed_sat": details.unconfirmed_balance_sat,
        "settled_height": settled,
    }


def _moved(found: Transaction, address: str) -> tuple[int, bool]:
    """What the transaction changed at the address, in satoshis, and whether it spent from there."""
    made = [explorer.making(each) for each in found.vout]
    spent = [explorer.spending(each) for each in found.vin]
    mine = [each for each in spent if each.address == address]
    came = sum(int(each.coins.scaleb(8)) for each in made if each.addresses == [address])
    went = sum(int(each.coins.scaleb(8)) for each in mine if each.coins is not None)
    return came - went, bool(mine)


def _height(found: Transaction) -> int | None:
    return found.blockheight if found.blockhash else None


def _sentence(failure: Exception) -> str:
    if isinstance(failure, CannotFinish):
        return str(failure)
    return f"The chain-data service can't be asked at the moment ({failure})."[:SENTENCE]
