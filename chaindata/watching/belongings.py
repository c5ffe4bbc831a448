"""Watched addresses and their movements, as what an address or a transaction on the chain belongs to."""

from collections import defaultdict
from collections.abc import Collection
from typing import TYPE_CHECKING

from django.urls import reverse

from chaindata.shared.belongings import Belonging, Found
from chaindata.watching import states
from chaindata.watching.models import ChainMovement, WatchedAddress

if TYPE_CHECKING:
    from desk.models import Person


def of(addresses: Collection[str], txids: Collection[str], person: "Person") -> Found:
    """The watched addresses among them, and those that the transactions moved coins of; everybody reads the chain."""
    found: dict[str, list[Belonging]] = defaultdict(list)
    rows = WatchedAddress.objects.filter(state=states.WATCHED, address__in=addresses) if addresses else ()
    for row in rows:
        found[row.address].append(Belonging(f"watched as {row.title}", _page(row.pk), watches=True))
    movements = ChainMovement.objects.filter(txid__in=txids).select_related("watched") if txids else ()
    for movement in movements:
        words = f"movement of {movement.watched.title}, {movement.label.lower()}"
        found[movement.txid].append(Belonging(words, _page(movement.watched_id)))
    return found


def _page(number: int) -> str:
    return reverse("chain-watched-address", args=[number])
