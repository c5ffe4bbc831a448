"""One request, one row, however often it is sent: by the person who asked and a key that their form carries."""

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
    """`rows` are those of this person and key, of which there is one at most.

    `is_same` says whether the earlier row asks for the same; `refusal` makes the error for a used key with other
    content.
    """

    rows: QuerySet[R]
    is_same: Callable[[R], bool]
    refusal: Callable[[R], Exception]

    def earlier(self) -> R | None:
        """The row that was made by the same request before; the refusal is raised when it asks for something else."""
        row = self.rows.all().first()
        if row is not None and not self.is_same(row):
            raise self.refusal(row)
        return row

    def store(self, store: Callable[[], R]) -> R:
        """Store the row, or give the one of a twin that was sent in the same moment and was first.

        Raises the IntegrityError of the database where no such twin is the reason.
        """
        try:
            return store()
        except IntegrityError:
            twin = self.earlier()
            if twin is None:
                raise
            return twin
