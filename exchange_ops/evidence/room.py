"""The room of evidence: what the desk knows of one payout, for somebody who does not have the desk."""

from typing import Final

from desk import rooms
from desk.audit.words import Words
from exchange_ops.withdrawals.models import Withdrawal

WORDS: Final = Words(
    name="evidence",
    title="Evidence",
    noun="the evidence of payout",
    mark="W-",
    model=Withdrawal,
    sentences={},
)

ROOM: Final = rooms.Room(trail=(WORDS,), urls="exchange_ops.evidence.urls")
