"""The API keys of the sandbox and their rights. The secrets are published: they open nothing but a sandbox."""

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


class Keys:
    """The keys of one world, found by login."""

    def __init__(self, keys: tuple[Key, ...]) -> None:
        self._by_login = {key.login: key for key in keys}

    def find(self, login: str) -> Key | None:
        """The key with exactly this login, or None."""
        return self._by_login.get(login)

    def every(self) -> tuple[Key, ...]:
        """All keys, in the order in which they were made."""
        return tuple(self._by_login.values())


def seeded() -> Keys:
    """The keys that every fresh world has."""

    def key(name: str, rights: frozenset[str], account: str = DESK_ACCOUNT) -> Key:
        return Key(login=name, secret=f"{name}-secret", account=account, rights=rights)

    return Keys(
        (
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
    )
