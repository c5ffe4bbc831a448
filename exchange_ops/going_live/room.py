"""The page that says what has to hold before a company pays through the desk, as the desk knows it."""

from typing import Final

from desk import rooms
from desk.web.context import Entry
from exchange_ops.going_live import views
from exchange_ops.going_live.trail_words import WORDS

ROOM: Final = rooms.Room(
    trail=(WORDS,),
    urls="exchange_ops.going_live.urls",
    navigation=(Entry("Going live", "going-live", "flag", "Control", order=270, may_see=views.may_see),),
)
