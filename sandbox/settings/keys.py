"""The API keys of the sandbox and their rights. The secrets are published: they open nothing but a sandbox."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

PLACE_CANCEL: Final = "Place/cancel orders"
HISTORY: Final = "Orderbook, History, Trading balance"
PAYMENT: Final = "Payment information"
WITHDRAW: Final = "Withdraw cryptocurrencies"
EVERY_RIGHT: Final = frozenset({PLACE_CANCEL, HISTORY, PAYMENT, WITHDRAW})

DESK_ACCOUNT: Final = "desk@demo.test"
OTHER_ACCOUNT: Final = "other@demo.test"
SUB_ACCOUNT: Final = "desk+1@demo.test"  # of the desk's account


@dataclass(frozen=True, slots=True)
class Key:
    """A key: its public login, its secret, the e-mail of its account, and the documented names of its rights."""

    login: str
    secret: str = field(repr=False)
    account: str
    rights: frozenset[str]


def of_figures(accounts: Sequence[str]) -> dict[str, Key]:
    """The keys of a world of a desk's figures, by their logins: three for each of these accounts, in their order, and
    three to rotate to."""
    rights = {
        "read": frozenset({HISTORY, PAYMENT}),
        "trade": frozenset({PLACE_CANCEL, HISTORY}),
        "withdraw": frozenset({PAYMENT, WITHDRAW}),
    }
    return {
        login: Key(login=login, secret=f"{login}-secret", account=account, rights=held)
        for number, account in enumerate(accounts, 1)
        for name, held in rights.items()
        for login in (f"rehearsal-{number}-{name}", f"rehearsal-{number}-next-{name}")
    }


def seeded() -> dict[str, Key]:
    """The keys that every fresh world has, by their logins."""

    def key(name: str, rights: frozenset[str], account: str = DESK_ACCOUNT) -> Key:
        return Key(login=name, secret=f"{name}-secret", account=account, rights=rights)

    return {
        each.login: each
        for each in (
            key("demo-full", EVERY_RIGHT),
            key("demo-trade", frozenset({PLACE_CANCEL, HISTORY})),
            key("demo-read", frozenset({HISTORY, PAYMENT})),
            key("demo-withdraw", frozenset({PAYMENT, WITHDRAW})),
            # To rotate to: the same rights as the three before.
            key("next-trade", frozenset({PLACE_CANCEL, HISTORY})),
            key("next-read", frozenset({HISTORY, PAYMENT})),
            key("next-withdraw", frozenset({PAYMENT, WITHDRAW})),
            key("other-full", EVERY_RIGHT, OTHER_ACCOUNT),
            key("sub-full", EVERY_RIGHT, SUB_ACCOUNT),
        )
    }
