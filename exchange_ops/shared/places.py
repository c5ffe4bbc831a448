"""The exchanges that accounts are at, by name: an allow list of the settings, of which the first is "default".

Every call, stream, budget, clock and probe of an account goes to the account's place and to no other; public market
data is read at the default one. A place that the settings no longer name is an error, never a reason to ask another.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.conf import settings

from exchange_ops.shared.models import Account

DEFAULT: Final = "default"


class UnknownPlace(Exception):
    """The settings name no exchange of this name; the sentence says whose it is, and that nothing is sent."""


@dataclass(frozen=True, slots=True)
class Place:
    """One exchange: its name, its REST address and the address of its streams, both without a path of ours."""

    name: str
    url: str
    stream_url: str


def default() -> Place:
    """The exchange of EXCHANGE_URL and EXCHANGE_WS_URL, which public market data comes from."""
    return Place(DEFAULT, settings.EXCHANGE_URL, settings.EXCHANGE_WS_URL)


def names() -> list[str]:
    """Every name that an account may be made with, the default one first."""
    return [DEFAULT, *settings.EXCHANGE_PLACES]


def place_of(account: Account) -> Place:
    """Where the account is. Raises `UnknownPlace`."""
    if account.place == DEFAULT:
        return default()
    entry = settings.EXCHANGE_PLACES.get(account.place)
    if entry is None:
        raise UnknownPlace(
            f"{account.name} is at the exchange “{account.place}”, which the settings do not name (EXCHANGE_PLACES). "
            "Nothing of it is read or sent until they do."
        )
    return Place(account.place, entry.url, entry.stream_url)


@dataclass(frozen=True, slots=True)
class PlaceView:
    """What pages say of an account's exchange: its name and REST address, or the problem with it."""

    name: str
    url: str
    problem: str

    @property
    def has_own_market(self) -> bool:
        """Whether market data come from where the account is."""
        return self.name == DEFAULT


def view_of(account: Account) -> PlaceView:
    """The account's exchange for people."""
    try:
        return PlaceView(account.place, place_of(account).url, "")
    except UnknownPlace as unknown:
        return PlaceView(account.place, "", str(unknown))


def elsewhere(accounts: Iterable[Account]) -> list[Account]:
    """Those of the accounts that are at another exchange than the one whose market the pages show."""
    return [account for account in accounts if account.place != DEFAULT]


def problem(account: Account) -> str:
    """The sentence when the settings do not name the account's exchange, else an empty text."""
    return view_of(account).problem
