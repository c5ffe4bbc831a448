"""Who has voted on a cause that two people decide: from then on it waits for somebody else."""

from collections import defaultdict
from collections.abc import Iterable

from desk.incidents import closings, kinds
from desk.incidents.models import Incident


def by_person(rows: Iterable[Incident]) -> set[tuple[int, int]]:
    """The number of the incident and of the person for every vote since the incident was opened.

    Earlier votes were on an earlier occurrence of the same cause. One query for each kind that has votes, and one for
    the words on incidents that two people close.
    """
    rows = list(rows)
    causes: dict[str, dict[str, Incident]] = defaultdict(dict)
    for row in rows:
        causes[row.kind][row.cause] = row
    votes = closings.by_person(rows)
    for name, opened in causes.items():
        read = kinds.by_name(name).votes
        for cause, person, at in read(list(opened)) if read else ():
            if at >= opened[cause].created_at:
                votes.add((opened[cause].pk, person))
    return votes


def decided_by_two() -> list[str]:
    """The names of the kinds whose causes two people decide."""
    return [kind.name for kind in kinds.every().values() if kind.votes or kind.by_two]
