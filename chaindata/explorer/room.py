"""What the search box finds on the chain: by what was read before, without calling the service."""

from collections.abc import Iterator
from typing import Final

from chaindata import rules
from chaindata.explorer import search
from desk import rooms
from desk.web.context import Entry
from desk.web.search import Hit, Scope, Search, shortened


def _places(text: str, scope: Scope) -> Iterator[Hit]:
    """Blocks, transactions, addresses, tokens and accounts."""
    for place in search.find(text=text, now=scope.now).places:
        words = place.words if place.is_certain else f"{place.words} (not loaded yet)"
        yield Hit("On the chain", shortened(place.name), words, place.url, "link")


ROOM: Final = rooms.Room(
    searches=(Search(_places, 150),),
    navigation=(Entry("Chain", "chain", "link", "Chain", order=150, key="c", may_see=rules.may_see),),
    tasks="chaindata.explorer.tasks",
    urls="chaindata.explorer.urls",
)
