"""Tools for bytes of the chain, as the desk knows them."""

from typing import Final

from chaindata import rules
from chaindata.tools.trail_words import WORDS
from desk import rooms
from desk.web.context import Entry

ROOM: Final = rooms.Room(
    trail=(WORDS,),
    navigation=(Entry("Tools", "chain-tools", "cpu", "Chain", order=190, may_see=rules.may_see),),
    urls="chaindata.tools.urls",
)
