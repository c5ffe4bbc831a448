"""Cash accounts, as the desk knows them."""

from typing import Final

from chaindata import rules
from desk import rooms
from desk.web.context import Entry

ROOM: Final = rooms.Room(
    navigation=(Entry("Cash accounts", "chain-accounts", "user-round", "Chain", order=180, may_see=rules.may_see),),
    urls="chaindata.cash_accounts.urls",
)
