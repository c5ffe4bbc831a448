"""Transactions that people send to the network, as the desk knows them."""

from typing import Final

from chaindata import rules
from chaindata.broadcasts.machine import GUARDS, REPLAY
from chaindata.broadcasts.models import ChainBroadcast, ChainBroadcastEvent
from chaindata.broadcasts.trail_words import WORDS
from chaindata.shared import topics
from desk import rooms
from desk.rows.witnessed import Table
from desk.web.search import Command

ROOM: Final = rooms.Room(
    topics={"chain-broadcast": topics.may_follow_row, "chain-broadcasts": topics.may_follow_list},
    trail=(WORDS,),
    replays={REPLAY.subject: REPLAY.check},
    guards={"broadcasts": GUARDS.statements},
    tables=(Table(ChainBroadcast, ChainBroadcast.table.loose), Table(ChainBroadcastEvent)),
    commands=(Command("Broadcast a transaction", "chain-broadcast-new", "send", rules.may_broadcast, 100),),
    tasks="chaindata.broadcasts.tasks",
    urls="chaindata.broadcasts.urls",
)
