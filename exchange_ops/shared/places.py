"""The exchanges that accounts are at, by name: an allow list in the settings, whose first entry is "default".

Every call, stream, budget, clock and probe of an account uses the account's place and no other; public market data
comes from the default one. A place that is missing from the settings is an error, never a reason to ask another.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.conf import settings

from exchange_ops.shared.models import Account

DEFAULT: Final = "default"


class UnknownPlace(Exception):
    """The settings name no such exchange; the sentence says for which account, and that nothing is sent."""


@dataclass(frozen=True, slots=True)
class Place:
    """One exchange: its name, its REST address and the address of its streams, both without the path of a call."""

    name: str
    url: str
    stream_url: str


def default() -> Place:
    """The exchange of EXCHANGE_URL and EXCHANGE_WS_URL, which public market data comes from."""
    return Place(DEFAULT, settings.EXCHANGE_URL, settings.EXCHANGE_WS_URL)


def names() -> list[str]:
    """Every name that a new account may have, the default one first."""
    return [DEFAULT, *settings.EXCHANGE_PLACES]


def addresses() -> dict[str, str]:
    """The REST address of every exchange of the settings, by name."""
    return {DEFAULT: settings.EXCHANGE_URL, **{name: entry.url for name, entry in settings.EXCHANGE_PLACES.items()}}


def place_of(account: Account) -> Place:
    """The exchange of the account. Raises `UnknownPlace`."""
    if account.place == DEFAULT:
        return default()
    entry = settings.EXCHANGE_PLACES.get(account.place)
    if entry is None:
        raise UnknownPlace(
            f"{account.name} is paused: its exchange “{account.place}” is not in the settings "
            "(EXCHANGE_PLACES). Nothing is synced or sent for it until an administrator adds it."
        )
    return Place(account.place, entry.url, entry.stream_url)


@dataclass(frozen=True, slots=True)
class PlaceView:
    """An account's exchange for pages: its name and REST address, or the problem with it."""

    name: str
    url: str
    problem: str

    @property
    def has_own_market(self) -> bool:
        """Whether market data comes from the account's own exchange."""
        return self.name == DEFAULT


def view_of(account: Account) -> PlaceView:
    """The account's exchange for pages."""
    try:
        return PlaceView(account.place, place_of(account).url, "")
    except UnknownPlace as unknown:
        return PlaceView(account.place, "", str(unknown))


def elsewhere(accounts: Iterable[Account]) -> list[Account]:
    """The accounts at another exchange than the one whose market the pages show."""
    return [account for account in accounts if account.place != DEFAULT]


def problem(account: Account) -> str:
    """The sentence when the settings do not name the account's exchange, else an empty text."""
    return view_of(account).problem
