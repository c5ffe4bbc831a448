"""What people judge after a restore of the exchange account, as the desk knows it."""

from typing import Final

from desk import rooms
from exchange_ops.restores import outside

ROOM: Final = rooms.Room(waiting=outside.SOURCES, outside=outside.outside, not_read_yet=outside.not_read_yet)
