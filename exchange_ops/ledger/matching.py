"""The rooms that match ledger entries to their requests, declared when the app is ready.

The ledger is below them and knows none of them; they flag entries that belong to no request.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.shared.models import Account


class Matcher(Protocol):
    """What a room does with stored or changed entries, inside the transaction that stored them."""

    def link(self, *, entry: LedgerEntry, now: datetime) -> None:
        """Link the entry to the request that caused it."""

    def concerned(self, *, account: Account, entries: Sequence[LedgerEntry]) -> list[LedgerEntry]:
        """The entries for which `link` has something to do."""

    def review(self, *, account: Account, now: datetime) -> None:
        """Match entries again that belong to no request yet."""


_matchers: list[Matcher] = []


def register(matcher: Matcher) -> None:
    """Declare a room's matcher; called when the app is ready."""
    _matchers.append(matcher)


def link(*, entry: LedgerEntry, now: datetime) -> None:
    """Have every room match a stored or changed entry, inside the same transaction."""
    for matcher in _matchers:
        matcher.link(entry=entry, now=now)


def link_all(*, account: Account, entries: Sequence[LedgerEntry], now: datetime) -> None:
    """The same for many entries of one account; each room is asked once which of them concern it."""
    for matcher in _matchers:
        for entry in matcher.concerned(account=account, entries=entries):
            matcher.link(entry=entry, now=now)


def review(*, account: Account, now: datetime) -> None:
    """Have every room match again the entries that belong to no request yet."""
    for matcher in _matchers:
        matcher.review(account=account, now=now)
