"""Addresses of the chain that the company watches, as the desk knows them."""

from typing import Final

from chaindata import rules
from chaindata.shared import topics
from chaindata.watching import kinds
from chaindata.watching.models import ChainMovement, ChainMovementEvent, WatchedAddress, WatchedAddressEvent
from chaindata.watching.mover import ADDRESSES, MOVEMENTS
from desk import rooms
from desk.machines.guards import Guards
from desk.machines.replay import Replay
from desk.rows.witnessed import Table
from desk.web.context import Entry

WATCHED: Final = Guards(machine=ADDRESSES, history=(WatchedAddressEvent,))
MOVED: Final = Guards(machine=MOVEMENTS, history=(ChainMovementEvent,))
REPLAYS: Final = (Replay(ADDRESSES), Replay(MOVEMENTS))

ROOM: Final = rooms.Room(
    topics={"watched-address": topics.row, "watched-addresses": topics.whole},
    incidents=kinds.KINDS,
    replays={each.subject: each.check for each in REPLAYS},
    guards={"watched": WATCHED.statements, "movements": MOVED.statements},
    tables=(
        Table(WatchedAddress, WatchedAddress.table.loose),
        Table(WatchedAddressEvent),
        Table(ChainMovement, ChainMovement.table.loose),
        Table(ChainMovementEvent),
    ),
    navigation=(Entry("Watched addresses", "chain-watched", "eye", "Chain", order=170, may_see=rules.may_see),),
    tasks="chaindata.watching.tasks",
    urls="chaindata.watching.urls",
)
