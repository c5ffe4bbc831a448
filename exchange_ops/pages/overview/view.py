"""What every block of the overview is given: whose page it is, of which accounts, at which moment, over which range."""

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
        """How far back the page looks."""
        return int(self.range)

    @cached_property
    def scopes(self) -> list[str]:
        """The accounts as incidents name them."""
        return [str(account.pk) for account in self.accounts]


def range_of(text: str) -> str:
    """The range that an address names, else the usual one."""
    return text if text in history.RANGES else history.USUAL
