"""What this room declares to the desk: the search box, and how long answers to repeated requests are kept."""

from typing import Final

from desk.people import trail_readers
from desk.rows.retention import Retention
from desk.web import idempotency, search
from desk.web.context import Entry
from desk.web.models import KeyedRequest
from desk.web.search import Search

RETENTION: Final = (Retention(KeyedRequest, "began_at", lambda: idempotency.KEPT_FOR),)


NAVIGATION: Final = (
    Entry(
        "Audit trail",
        "audit",
        "scroll-text",
        "Control",
        order=240,
        key="a",
        may_see=trail_readers.may_read,
        also=("Log", "Activity"),
    ),
)
SEARCHES: Final = (Search(search.pages, 10), Search(search.actions, 20))
