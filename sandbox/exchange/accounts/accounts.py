"""Who holds accounts on the sandbox's exchange: people by e-mail and user name, and their sub-accounts."""

from dataclasses import dataclass, field
from enum import StrEnum


class SubStatus(StrEnum):
    """Where a sub-account stands. Frozen ones come back; disabled ones don't."""

    NEW = "new"
    ACTIVE = "active"
    FROZEN = "frozen"
    DISABLED = "disabled"


# The interface has one word for both (supplement 2.11): whether it can be undone, only activating tells.
_STATUS_WORDS = {SubStatus.FROZEN: "disable", SubStatus.DISABLED: "disable"}


@dataclass(slots=True)
class SubAccount:
    """A sub-account; its e-mail names it everywhere else, as it does for every account.

    `is_payout_enabled` and `description` are its withdrawal setting, which its master keeps.
    """

    id: int
    email: str
    status: SubStatus
    is_payout_enabled: bool = True
    description: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it is neither frozen nor disabled."""
        return self.status in (SubStatus.NEW, SubStatus.ACTIVE)

    def wire(self) -> dict[str, object]:
        """The Sub-account record of the REST interface."""
        return {"id": self.id, "email": self.email, "status": _STATUS_WORDS.get(self.status, self.status.value)}


@dataclass(frozen=True, slots=True)
class Account:
    """One account; its e-mail names it everywhere else."""

    email: str
    username: str
    sub_accounts: list[SubAccount] = field(default_factory=list)


class Accounts:
    """The accounts of one world. A sub-account is an account too, but nobody can name it as a receiver."""

    def __init__(self, accounts: tuple[Account, ...]) -> None:
        self._by_email = {account.email: account for account in accounts}
        self._subs = {sub.email: sub for account in accounts for sub in account.sub_accounts}
        self._of_subs = {email: Account(email, "") for email in self._subs}

    def find(self, email: str) -> Account | None:
        """The account or sub-account of exactly this e-mail, or None."""
        return self._by_email.get(email) or self._of_subs.get(email)

    def sub_account(self, email: str) -> SubAccount | None:
        """The sub-account of exactly this e-mail, or None; an account that is none has no such record."""
        return self._subs.get(email)

    def identified(self, by: str, identifier: str) -> Account | None:
        """The account that has this e-mail or user name (`by` is email or username), without regard to ASCII case."""
        if not identifier.isascii():
            return None
        needle = identifier.lower()
        for account in self._by_email.values():
            if needle == (account.email if by == "email" else account.username):
                return account
        return None

    def every(self) -> tuple[Account, ...]:
        """All accounts but the sub-accounts, in the order in which they were made."""
        return tuple(self._by_email.values())
