"""The room of evidence: what the desk knows of one payout, for somebody who does not have the desk."""

from typing import Final

from desk import rooms

ROOM: Final = rooms.Room(urls="exchange_ops.evidence.urls")
