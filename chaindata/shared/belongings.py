"""What an address or a transaction belongs to on this desk: a payout, a deposit, a destination, a watched address.

The chain does not know the exchange, so rooms that know what belongs to what register a lookup here at the start.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from desk.models import Person


@dataclass(frozen=True, slots=True)
class Belonging:
    """A page of the desk about it: what it is in words, and its URL. `watches`: the address is watched."""

    words: str
    url: str
    watches: bool = False


BelongingsByKey = Mapping[str, Collection[Belonging]]
Lookup = Callable[[Collection[str], Collection[str], "Person"], BelongingsByKey]
"""From printed addresses, transaction ids and the reader to what each belongs to, as far as the reader may see it."""

_lookups: dict[str, Lookup] = {}


def register(name: str, look_up: Lookup) -> None:
    """Register a lookup; the same name again replaces the earlier one."""
    _lookups[name] = look_up


def collect(
    *, person: "Person", addresses: Collection[str] = (), txids: Collection[str] = ()
) -> dict[str, list[Belonging]]:
    """What each of the addresses and transactions belongs to; those that belong to nothing are left out."""
    arguments = sorted({each for each in addresses if each}), sorted(set(txids))
    belongings: dict[str, list[Belonging]] = {}
    for look_up in _lookups.values():
        for key, each in look_up(*arguments, person).items():
            belongings.setdefault(key, []).extend(each)
    return {key: each for key, each in belongings.items() if each}
