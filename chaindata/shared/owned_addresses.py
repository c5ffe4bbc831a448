"""Whose an address is: other rooms tell which addresses the company owns, the chain's pages ask.

The chain does not know the exchange, so who knows addresses registers a question here when the house starts.
"""

from collections.abc import Callable, Collection, Mapping

Lookup = Callable[[Collection[str]], Mapping[str, str]]
"""From cash addresses as they are printed here to words for the owner of those that are known."""

_lookups: dict[str, Lookup] = {}


def register(name: str, look_up: Lookup) -> None:
    """Let `look_up` answer about addresses; the same name again takes the place of the earlier one."""
    _lookups[name] = look_up


def owners(*, addresses: Collection[str]) -> dict[str, str]:
    """Words for the owner of each address that is one of ours; of the others nothing is said."""
    texts = sorted(set(addresses))
    owner_by_address: dict[str, str] = {}
    for look_up in _lookups.values() if texts else ():
        owner_by_address |= look_up(texts)
    return owner_by_address
