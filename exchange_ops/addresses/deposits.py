"""Our deposit addresses, as the exchange last listed them.

The page writes a row and goes on; a worker reads the current address, the last ten and those withdrawn to, and
announces it. Every address ever made stays valid, so none is forgotten when it drops out of the exchange's ten. Source:
exchange REST, Account management; supplement 2.10.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Q

from desk import questions
from exchange_ops.addresses.models import AddressBook, DepositAddress
from exchange_ops.client import ExchangeClient
from exchange_ops.keys import answering
from exchange_ops.keys.clients import ClientFor
from exchange_ops.market.models import Currency
from exchange_ops.shared.models import Account
from exchange_ops.wire import records
from exchange_ops.wire.catalogue import Right
from wire.errors import BadReply, Refused

if TYPE_CHECKING:
    from desk.models import Person

READ_TASK = "exchange_ops.read_addresses"
LONGEST = 256
MOST_USED = 10
# While it is read again, a book keeps the problem of the reading that is shown.
BOOK = questions.Rule(
    model=AddressBook,
    task=READ_TASK,
    topic="{row.topic}",
    fresh_for=timedelta(seconds=30),
    lost_after=timedelta(seconds=30),
    asked_anew={},
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the exchange answered: the current address if any, the last ten newest first, and those withdrawn to."""

    current: records.DepositAddress | None
    recent: list[records.DepositAddress]
    used: list[records.UsedAddress]
    remark: str = ""


def ask(*, account: Account, currency: str, person: "Person | None", now: datetime, anew: bool = False) -> AddressBook:
    """Ask for a fresh reading of one currency's addresses; a fresh one is enough unless `anew` is set."""
    return BOOK.ask(account=account, currency=currency, person=person, now=now, anew=anew)


def is_due(book: AddressBook | None, *, now: datetime) -> bool:
    """Whether the copy is old enough to be read again, or its question was never answered."""
    return book is None or AddressBook.objects.filter(BOOK.due(now), pk=book.pk).exists()


def fill(*, book_id: int, client_for: ClientFor, now: datetime) -> None:
    """Read the addresses and store them; does nothing when the question is answered already."""

    def read_and_keep(client: ExchangeClient, row: AddressBook) -> dict[str, str]:
        reading = read(client, currency=row.currency)
        store(account=row.account, currency=row.currency, reading=reading, now=now)
        return {"problem": reading.remark}

    answering.fill(BOOK, book_id, right=Right.PAYMENTS, read=read_and_keep, client_for=client_for, now=now)


def read(client: ExchangeClient, *, currency: str) -> Reading:
    """Ask all three questions. Having no current address is an answer and no failure."""
    remark, current = "", None
    try:
        current = client.get_deposit_address(currency=currency)
    except Refused as refused:
        remark = f"The exchange has no current address: {refused}"
    listing = client.get_deposit_addresses(currency=currency)
    if listing.asides:
        raise BadReply(f"an address is unreadable: {listing.asides[0].reason}")
    used = client.get_used_addresses(currency=currency)
    return Reading(current, list(listing.records), used, remark)


def store(*, account: Account, currency: str, reading: Reading, now: datetime) -> None:
    """Store a reading. Addresses are added or change their place; none is removed, as each stays valid."""
    recent = [one for one in reading.recent if keepable(one)]
    current = reading.current if reading.current is not None and keepable(reading.current) else None
    with transaction.atomic():
        addresses = DepositAddress.objects.filter(account=account, currency=currency)
        list(AddressBook.objects.select_for_update().filter(account=account, currency=currency))
        addresses.filter(Q(place__isnull=False) | Q(is_current=True)).update(place=None, is_current=False)
        for place, one in enumerate(recent, start=1):
            _keep(account, currency, one, now, place=place)
        if current is not None:
            _keep(account, currency, current, now, is_current=True)
        used = [{"address": one.address, "payment_id": one.payment_id or ""} for one in reading.used[:MOST_USED]]
        AddressBook.objects.filter(account=account, currency=currency).update(used=used, read_at=now)


def keepable(record: records.DepositAddress) -> bool:
    """Whether the columns can hold it."""
    return all(len(text or "") <= LONGEST for text in (record.address, record.payment_id, record.public_key))


def keep(*, account: Account, currency: str, record: records.DepositAddress, now: datetime) -> DepositAddress:
    """Store an address that the exchange has just made, whether or not its list shows it already; returns the row."""
    return _keep(account, currency, record, now)


def as_texts(addresses: Iterable[records.DepositAddress]) -> list[str]:
    """Each address as one text, so that two listings can be compared."""
    return [f"{one.address} {one.payment_id or ''}".strip() for one in addresses]


def problem_of(currency: Currency | None) -> str:
    """Why no deposit of this currency is possible now, or an empty text."""
    if currency is None:
        return "This currency is not listed on the exchange."
    if currency.delisted:
        return f"{currency.code} is delisted and deposits are closed. Do not send anything to its addresses."
    if not currency.crypto:
        return f"{currency.code} is not on a blockchain, so it has no deposit addresses."
    if not currency.payin_enabled:
        return f"The exchange has suspended {currency.code} deposits. Do not send anything until they resume."
    return ""


def _keep(
    account: Account, currency: str, record: records.DepositAddress, now: datetime, **columns: object
) -> DepositAddress:
    row, _ = DepositAddress.objects.get_or_create(
        account=account,
        currency=currency,
        address=record.address,
        payment_id=record.payment_id or "",
        defaults={"public_key": record.public_key or "", "first_seen_at": now, "seen_at": now},
    )
    changes = {"public_key": record.public_key or "", "seen_at": now, **columns}
    DepositAddress.objects.filter(pk=row.pk).update(**changes)
    return row
