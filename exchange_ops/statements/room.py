"""The room of the statements: what each account held, moved and paid in a period. It stores nothing."""

from typing import Final

from desk import rooms
from desk.web.context import Entry
from exchange_ops.shared import rules

ROOM: Final = rooms.Room(
    urls="exchange_ops.statements.urls",
    navigation=(
        Entry(
            "Statements",
            "statements",
            "scroll-text",
            "Money",
            order=93,
            may_see=rules.may_see,
            also=("Account statement", "Journal", "Closing balance", "Bookkeeping"),
        ),
    ),
)
