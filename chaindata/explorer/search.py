"""What a text in the search box names on the chain: a block, a transaction, an address, a token, a cash account.

The search waits for nothing: what was read before is certain, and an unknown hash is offered as a possible transaction.
Its page reads the transaction, and says what else has the id if no transaction has it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse

from chaindata.cache import answers
from chaindata.cache.answers import Reading
from chaindata.explorer import home
from chaindata.headers.models import ChainHeader
from chaindata.shared import addresses
from chaindata.shared.pages import PartFreshness, freshness_of
from chaindata.tokens import tokens
from chaindata.wire import cash_accounts
from chaindata.wire.hashing import is_display_hex

BLOCK, TRANSACTION, ADDRESS, TOKEN, ACCOUNT = "block", "transaction", "address", "token", "account"
_PAGES = {
    BLOCK: "chain-block",
    TRANSACTION: "chain-transaction",
    ADDRESS: "chain-address",
    TOKEN: "chain-token",
}
_LONGEST_NUMBER = 9
_LONGEST_NAME = 40
_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Place:
    """Something that a text names: its kind, its name in the URL of its page, and words for it.

    `is_certain` is False if it was not read yet whether there is such a thing.
    """

    kind: str
    name: str
    words: str
    is_certain: bool = True

    @property
    def url(self) -> str:
        """The URL of its page."""
        if self.kind == ACCOUNT:
            return f"{reverse('chain-accounts')}?{urlencode({'q': self.name})}"
        return reverse(_PAGES[self.kind], args=[self.name])


@dataclass(frozen=True, slots=True)
class Matches:
    """What the search found, and the freshness of the answers that it read: newer ones may contain more."""

    places: Sequence[Place]
    freshness: PartFreshness


def find(*, text: str, now: datetime) -> Matches:
    """Everything on the chain that the whole text names, in any form, in capital or small letters."""
    text, lookups = text.strip(), _Lookups(now)
    if is_display_hex(text):
        places = list(_of_hash(text.lower(), lookups))
    elif text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER:
        places = list(_of_number(int(text), lookups))
    else:
        places = [*_of_address(text), *_of_account(text)]
        places += [] if places else _of_name(text, lookups)
    return Matches(places, freshness_of(*lookups.readings))


class _Lookups:
    """The answers that the search has read."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.readings: list[Reading] = []

    def read(self, *calls: tuple[str, dict[str, object]]) -> list[Reading]:
        """The last answers to these questions."""
        readings = answers.read_many(calls, now=self.now)
        self.readings += readings
        return readings


def _of_hash(name: str, lookups: _Lookups) -> Iterator[Place]:
    """Blocks by our own headers; everything else by the last answers."""
    if header := ChainHeader.objects.filter(hash=name).first():
        yield Place(BLOCK, name, f"Block {header.height:,}")
        return
    transaction, token = lookups.read(("get_transaction_details", {"txid": name}), ("get_slp_token", {"tokenId": name}))
    if token.record is not None and token.record.is_known:
        yield Place(TOKEN, name, f"Token {token.record.symbol or token.record.name or ''}".strip())
    yield Place(TRANSACTION, name, "Transaction", is_certain=transaction.record is not None)


def _of_number(number: int, lookups: _Lookups) -> Iterator[Place]:
    end = home.tip_height(now=lookups.now)
    if end is not None and number <= end:
        yield Place(BLOCK, str(number), f"Block {number:,}")
    for row in lookups.read(("get_properties", {}))[0].record or []:
        if row.propertyid == number:
            yield Place(TOKEN, str(number), f"Property token {number}, {row.name}")


def _of_address(text: str) -> Iterator[Place]:
    try:
        printed = addresses.printed(text)
    except addresses.NotAnAddress:
        return
    yield Place(ADDRESS, printed, "Address")


def _of_account(text: str) -> Iterator[Place]:
    try:
        identifier = cash_accounts.identifier(text)
    except cash_accounts.NotAnIdentifier:
        return
    yield Place(ACCOUNT, identifier.text, f"Cash account {identifier.text.rstrip(';')}", is_certain=False)


def _of_name(text: str, lookups: _Lookups) -> Iterator[Place]:
    """Tokens with exactly this name in the lists as last read; several may have it."""
    folded_name = text.casefold()
    if not folded_name or len(text) > _LONGEST_NAME:
        return
    ledger, properties = lookups.read(("get_slp_tokens", {}), ("get_properties", {}))
    places = [
        Place(TOKEN, row.id, f"SLP token {row.symbol or row.name}")
        for row in ledger.record or []
        if folded_name in {(row.symbol or "").casefold(), (row.name or "").casefold()} and tokens.kind_of(row.id)
    ]
    places += [
        Place(TOKEN, str(row.propertyid), f"Property token {row.propertyid}, {row.name}")
        for row in properties.record or []
        if row.name.casefold() == folded_name and tokens.kind_of(str(row.propertyid))
    ]
    yield from places[:_MOST_NAMED]
