"""Which rooms look at entries of the ledger for what was born from their requests: declared when the app is ready.

The ledger stands below them and knows none of them; an entry that belongs to nobody is theirs to flag.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.shared.models import Account


class Matcher(Protocol):
    """What a room does with entries that were stored or changed, inside the transaction that did so."""

    def link(self, *, entry: LedgerEntry, now: datetime) -> None:
        """Join the entry to the request it was born from."""

    def concerned(self, *, account: Account, entries: Sequence[LedgerEntry]) -> list[LedgerEntry]:
        """Those of many entries that `link` has something to do for."""

    def review(self, *, account: Account, now: datetime) -> None:
        """Look again at entries that belong to nobody yet."""


_matchers: list[Matcher] = []


def register(matcher: Matcher) -> None:
    """Declare a room's matcher; called when the app is ready."""
    _matchers.append(matcher)


def link(*, entry: LedgerEntry, now: datetime) -> None:
    """Have every room look at an entry that was stored or changed, inside the same transaction."""
    for matcher in _matchers:
        matcher.link(entry=entry, now=now)


def link_all(*, account: Account, entries: Sequence[LedgerEntry], now: datetime) -> None:
    """The same for many entries of one account, asked of each room at once."""
    for matcher in _matchers:
        for entry in matcher.concerned(account=account, entries=entries):
            matcher.link(entry=entry, now=now)


def review(*, account: Account, now: datetime) -> None:
    """Have every room look again at what belongs to nobody yet."""
    for matcher in _matchers:
        matcher.review(account=account, now=now)
