"""Who holds accounts on the sandbox's exchange: people by e-mail and user name, and their sub-accounts."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class SubAccount:
    """A sub-account; `status` is new, active or disable."""

    id: int
    email: str
    status: str

    def wire(self) -> dict[str, object]:
        """The Sub-account record of the REST interface."""
        return {"id": self.id, "email": self.email, "status": self.status}


@dataclass(frozen=True, slots=True)
class Account:
    """One account; its e-mail names it everywhere else."""

    email: str
    username: str
    sub_accounts: list[SubAccount] = field(default_factory=list)


class Accounts:
    """The accounts of one world."""

    def __init__(self, accounts: tuple[Account, ...]) -> None:
        self._by_email = {account.email: account for account in accounts}

    def find(self, email: str) -> Account | None:
        """The account of exactly this e-mail, or None."""
        return self._by_email.get(email)

    def identified(self, by: str, identifier: str) -> Account | None:
        """The account that has this e-mail or user name (`by` is email or username), without regard to ASCII case."""
        if not identifier.isascii():
            return None
        wanted = identifier.lower()
        for account in self._by_email.values():
            if wanted == (account.email if by == "email" else account.username):
                return account
        return None

    def every(self) -> tuple[Account, ...]:
        """All accounts, in the order in which they were made."""
        return tuple(self._by_email.values())
