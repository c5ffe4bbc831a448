"""The input of every block of the overview: the reader, the accounts, the moment and the range."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from desk.models import Person
from exchange_ops.portfolio import history, totals
from exchange_ops.shared.models import Account


@dataclass(frozen=True)
class View:
    """One reading of the page."""

    person: Person
    accounts: list[Account]
    now: datetime
    range: str = history.USUAL

    @property
    def account(self) -> Account | None:
        """The account, where the page is about one."""
        return self.accounts[0] if len(self.accounts) == 1 else None

    @property
    def quote(self) -> str:
        """The currency in which everything together is valued: the reader's own, else that of the first account."""
        return totals.quote_for(self.person, self.accounts)

    @property
    def days(self) -> int:
        """The length of the range."""
        return int(self.range)

    @cached_property
    def scopes(self) -> list[str]:
        """The accounts as incidents name them."""
        return [str(account.pk) for account in self.accounts]


def range_of(text: str) -> str:
    """The range that an address names, or the default."""
    return text if text in history.RANGES else history.USUAL
