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


Found = Mapping[str, Collection[Belonging]]
Asker = Callable[[Collection[str], Collection[str], "Person"], Found]
"""From printed addresses, ids of transactions and who reads to what belongs to each, of what that person may see."""

_askers: dict[str, Asker] = {}


def register(name: str, ask: Asker) -> None:
    """Let `ask` be asked; the same name again takes the place of the earlier one."""
    _askers[name] = ask


def of(*, person: "Person", addresses: Collection[str] = (), txids: Collection[str] = ()) -> dict[str, list[Belonging]]:
    """What belongs to each of the addresses and transactions; those to which nothing belongs are not there."""
    wanted = sorted({each for each in addresses if each}), sorted(set(txids))
    found: dict[str, list[Belonging]] = {}
    for ask in _askers.values():
        for key, each in ask(*wanted, person).items():
            found.setdefault(key, []).extend(each)
    return {key: each for key, each in found.items() if each}
