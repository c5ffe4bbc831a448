"""Whose an address is: other rooms know the company's addresses, the chain's pages show them.

The chain does not know the exchange, so rooms that know addresses register a lookup here at the start.
"""

from collections.abc import Callable, Collection, Mapping

Lookup = Callable[[Collection[str]], Mapping[str, str]]
"""From printed cash addresses to words for the owners of those that are ours."""

_lookups: dict[str, Lookup] = {}


def register(name: str, look_up: Lookup) -> None:
    """Register a lookup; the same name again replaces the earlier one."""
    _lookups[name] = look_up


def owners(*, addresses: Collection[str]) -> dict[str, str]:
    """Words for the owner of each address that is one of ours; the others are left out."""
    texts = sorted(set(addresses))
    owner_by_address: dict[str, str] = {}
    for look_up in _lookups.values() if texts else ():
        owner_by_address |= look_up(texts)
    return owner_by_address
