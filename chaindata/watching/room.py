"""Addresses of the chain that the company watches, as the desk knows them."""

from typing import Final

from chaindata import rules
from chaindata.shared import topics
from chaindata.watching import kinds
from chaindata.watching.machine import GUARDS, REPLAYS
from chaindata.watching.models import ChainMovement, ChainMovementEvent, WatchedAddress, WatchedAddressEvent
from chaindata.watching.trail_words import WORDS
from desk import rooms
from desk.rows.witnessed import Table
from desk.web.context import Entry

ROOM: Final = rooms.Room(
    topics={"watched-address": topics.may_follow_row, "watched-addresses": topics.may_follow_list},
    incidents=kinds.KINDS,
    trail=WORDS,
    replays={each.subject: each.check for each in REPLAYS},
    guards={name: each.statements for name, each in GUARDS.items()},
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
