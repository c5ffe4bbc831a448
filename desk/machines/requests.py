"""One row for a request, however often it is sent: identified by the person and a key that their form carries."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db import IntegrityError
from django.db.models import QuerySet

from desk.machines.rows import Subject

R = TypeVar("R", bound=Subject)
LONGEST_KEY = 80


@dataclass(frozen=True)
class Once(Generic[R]):
    """A request under its key. `rows` are those of this person and key, at most one.

    `is_same` says whether an earlier row asks for the same; `refusal` makes the error for a key that was used for
    something else.
    """

    rows: QuerySet[R]
    is_same: Callable[[R], bool]
    refusal: Callable[[R], Exception]

    def earlier(self) -> R | None:
        """The row that the same request made before. Raises the refusal where that row asks for something else."""
        row = self.rows.all().first()
        if row is not None and not self.is_same(row):
            raise self.refusal(row)
        return row

    def store(self, store: Callable[[], R]) -> R:
        """Store the row, or return that of a twin request that came first at the same moment.

        Raises the database's IntegrityError where there is no such twin.
        """
        try:
            return store()
        except IntegrityError:
            twin = self.earlier()
            if twin is None:
                raise
            return twin
