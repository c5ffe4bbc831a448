"""What on this desk an address or a transaction belongs to: a payout, a deposit, a destination, a watched address.

The chain does not know the exchange, so who knows what belongs to what registers a question here when the house starts.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from desk.models import Person


@dataclass(frozen=True, slots=True)
class Belonging:
    """One page of the desk that is about it: in words, and where it is; `watches` where the address is watched."""

    words: str
    url: str
    watches: bool = False


BelongingsByKey = Mapping[str, Collection[Belonging]]
Lookup = Callable[[Collection[str], Collection[str], "Person"], BelongingsByKey]
"""From printed addresses, ids of transactions and who reads to what belongs to each, of what that person may see."""

_lookups: dict[str, Lookup] = {}


def register(name: str, look_up: Lookup) -> None:
    """Let `look_up` answer; the same name again takes the place of the earlier one."""
    _lookups[name] = look_up


def collect(
    *, person: "Person", addresses: Collection[str] = (), txids: Collection[str] = ()
) -> dict[str, list[Belonging]]:
    """What belongs to each of the addresses and transactions; those to which nothing belongs are not there."""
    arguments = sorted({each for each in addresses if each}), sorted(set(txids))
    belongings: dict[str, list[Belonging]] = {}
    for look_up in _lookups.values():
        for key, each in look_up(*arguments, person).items():
            belongings.setdefault(key, []).extend(each)
    return {key: each for key, each in belongings.items() if each}
