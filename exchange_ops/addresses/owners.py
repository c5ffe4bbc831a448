"""Whose an address is, where it is one of the company's own: deposit addresses of the accounts and of what higher rooms
declare (sub-accounts).
"""

from collections.abc import Callable, Collection, Mapping
from typing import Final

from exchange_ops.addresses.models import DepositAddress

DEPOSITS: Final = "deposit address of this account"
Lookup = Callable[[Collection[str]], Mapping[str, tuple[int, str]]]
"""From spellings of addresses to the number of the account that each belongs to, with words for what it is there."""

_lookups: dict[str, Lookup] = {}


def register(name: str, look_up: Lookup) -> None:
    """Declare further addresses of our own; the same name again replaces the earlier one."""
    _lookups[name] = look_up


def owners(addresses: Collection[str]) -> dict[str, tuple[int, str]]:
    """The account and the words of each of the addresses, spelled as given, that is our own."""
    if not addresses:
        return {}
    ours: dict[str, tuple[int, str]] = {}
    for look_up in _lookups.values():
        ours |= look_up(addresses)
    rows = DepositAddress.objects.filter(address__in=addresses).values_list("address", "account_id")
    return ours | {address: (account, DEPOSITS) for address, account in rows}
