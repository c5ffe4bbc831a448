"""What this room declares to the desk: the search box, and how long answers to repeated requests are kept."""

from typing import TYPE_CHECKING, Final

from desk.people import roles
from desk.rows.retention import Retention
from desk.web import idempotency, search
from desk.web.context import Entry
from desk.web.models import KeyedRequest
from desk.web.search import Search

if TYPE_CHECKING:
    from desk.models import Person

RETENTION: Final = (Retention(KeyedRequest, "began_at", lambda: idempotency.KEPT_FOR),)


def _may_read_trail(person: "Person") -> bool:
    return person.has_role(roles.AUDITOR, roles.ADMIN, scope="")


NAVIGATION: Final = (
    Entry(
        "Audit trail",
        "audit",
        "scroll-text",
        "Control",
        order=240,
        key="a",
        may_see=_may_read_trail,
        also=("Log", "Activity"),
    ),
)
SEARCHES: Final = (Search(search.pages, 10), Search(search.actions, 20))
