"""The movements on the page of a watched address, fifty at a time."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import OuterRef, QuerySet, Subquery

from chaindata.shared.pages import page_of
from chaindata.watching import requests, states
from chaindata.watching.models import ChainMovement, ChainMovementEvent, WatchedAddress

MOST_SHOWN = 50


@dataclass(frozen=True, slots=True)
class MovementsPart:
    """A page of movements, those to review first; `received` is how many of those to review only received."""

    lines: Sequence[ChainMovement]
    received: int
    page: int
    pages: int

    @property
    def drawn_for(self) -> str:
        """The movements shown, with their versions: if this changes, a form drawn before is out of date."""
        return ",".join(f"{line.pk}.{line.version}" for line in self.lines)


def movements(row: WatchedAddress, *, page: int) -> MovementsPart:
    """The part; each line carries who reviewed it (`reviewer`) and when (`reviewed_at`)."""
    every = requests.movements(row)
    page, pages, first = page_of(every.count(), page=page, size=MOST_SHOWN)
    lines = with_reviewers(every)
    waiting = ChainMovement.objects.filter(watched=row, state=states.TO_REVIEW, spends=False).count()
    return MovementsPart(list(lines[first : first + MOST_SHOWN]), waiting, page, pages)


def with_reviewers(rows: QuerySet[ChainMovement]) -> QuerySet[ChainMovement]:
    """The same rows, each with who reviewed it (`reviewer`) and when (`reviewed_at`)."""
    word = ChainMovementEvent.objects.filter(movement=OuterRef("pk"), event="reviewed")
    names, times = (Subquery(word.values(column)[:1]) for column in ("actor__username", "at"))
    return rows.annotate(reviewer=names, reviewed_at=times)
