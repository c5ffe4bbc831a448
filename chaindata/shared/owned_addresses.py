"""Whose an address is: other rooms tell which addresses the company owns, the chain's pages ask.

The chain does not know the exchange, so who knows addresses registers a question here when the house starts.
"""

from collections.abc import Callable, Collection, Mapping

Asker = Callable[[Collection[str]], Mapping[str, str]]
"""From cash addresses as they are printed here to words for the owner of those that are known."""

_askers: dict[str, Asker] = {}


def register(name: str, ask: Asker) -> None:
    """Let `ask` be asked about addresses; the same name again takes the place of the earlier one."""
    _askers[name] = ask


def owners(*, addresses: Collection[str]) -> dict[str, str]:
    """Words for the owner of each address that is one of ours; of the others nothing is said."""
    wanted = sorted(set(addresses))
    found: dict[str, str] = {}
    for ask in _askers.values() if wanted else ():
        found |= ask(wanted)
    return found
