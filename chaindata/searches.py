"""What a text names on the chain, by what was read of it before: nothing outside is asked."""

from collections.abc import Iterator

from chaindata.explorer import search
from chaindata.templatetags.chain import place_url
from desk.web.search import Hit, Scope, shortened


def places(text: str, scope: Scope) -> Iterator[Hit]:
    """Blocks, transactions, addresses, tokens and accounts."""
    for place in search.find(text=text, now=scope.now).places:
        words = place.words if place.is_certain else f"{place.words} (not read yet)"
        yield Hit("On the chain", shortened(place.name), words, place_url(place), "link")
