"""Tokens of both layers, as the desk knows them."""

from typing import Final

from chaindata import rules
from desk import rooms
from desk.web.context import Entry

ROOM: Final = rooms.Room(
    navigation=(Entry("Tokens", "chain-tokens", "database", "Chain", order=160, key="k", may_see=rules.may_see),),
    urls="chaindata.tokens.urls",
)
