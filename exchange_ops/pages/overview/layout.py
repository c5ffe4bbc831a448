"""Which blocks of the overview a role sees, in which order and how wide: the one place that says so.

A row is twelve columns. Somebody with several roles sees the page of the first, and below it what the others add.
"""

from typing import Final

from desk.models import Person
from desk.people import roles

Row = tuple[tuple[str, int], ...]

VALUE: Final[Row] = (("balances", 8), ("allocation", 4))
BOOKS: Final[tuple[Row, ...]] = ((("accounts", 7), ("flows", 5)), (("lines", 12),))
LAYOUT: Final[dict[str, tuple[Row, ...]]] = {
    roles.TREASURY: ((("wellbeing", 12),), (("work", 8), ("deadlines", 4)), VALUE, (("requests", 12),), *BOOKS),
    roles.OPERATOR: ((("wellbeing", 12),), (("requests", 8), ("deadlines", 4)), VALUE, (("work", 12),), *BOOKS),
    roles.ADMIN: (
        (("wellbeing", 12),),
        (("staff", 8), ("work", 4)),
        VALUE,
        (("requests", 8), ("deadlines", 4)),
        *BOOKS,
    ),
    roles.AUDITOR: (
        (("wellbeing", 12),),
        (("changes", 8), ("checks", 4)),
        VALUE,
        (("requests", 8), ("work", 4)),
        *BOOKS,
    ),
}

# What is the whole desk's: not shown to somebody whose role is held at some accounts only.
OF_THE_DESK: Final = frozenset({"staff", "changes", "checks"})


def rows(person: Person) -> list[Row]:
    """The rows of this person's page; each block once, and a row that lost a block filled by the rest."""
    found: list[Row] = []
    seen: set[str] = set()
    for role, wanted in LAYOUT.items():
        if not person.has_role(role):
            continue
        hidden = frozenset() if person.has_role(role, scope="") else OF_THE_DESK
        for row in wanted:
            new = tuple((name, width) for name, width in row if name not in seen | hidden)
            seen |= {name for name, _ in new}
            if new:
                found.append(new if len(new) == len(row) else tuple((name, 12 // len(new)) for name, _ in new))
    return found
