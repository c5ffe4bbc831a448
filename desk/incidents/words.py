"""Who gave their word on what two people decide: it waits for somebody else then, and no more for them."""

from collections import defaultdict
from collections.abc import Iterable

from desk.incidents import kinds
from desk.incidents.models import Incident


def by_person(rows: Iterable[Incident]) -> set[tuple[int, int]]:
    """Incident and person, by number, of every word since the incident was opened; a query for each kind with words.

    An earlier word was about an earlier time of the same cause.
    """
    causes: dict[str, dict[str, Incident]] = defaultdict(dict)
    for row in rows:
        causes[row.kind][row.cause] = row
    found = set()
    for name, opened in causes.items():
        read = kinds.of(name).words
        for cause, person, at in read(list(opened)) if read else ():
            if at >= opened[cause].created_at:
                found.add((opened[cause].pk, person))
    return found


def decided_by_two() -> list[str]:
    """The names of the kinds whose causes two people decide."""
    return [kind.name for kind in kinds.every().values() if kind.words]
