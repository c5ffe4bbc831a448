"""The audit rows of a payout, from its first to its last, with every row between them, so that the hashes link.

A row between that the reader may not read is a link: its number and both hashes, nothing else. So is each row between
of a span that is too long for a page. Rows of the payout itself, and the comments on it, are complete.
"""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.db.models import Max, Min

from desk import models
from desk.audit import trail, words
from desk.people import trail_readers
from exchange_ops.withdrawals.models import Withdrawal

if TYPE_CHECKING:
    from desk.models import AuditEvent, Person

MOST_COMPLETE: Final = 20_000  # rows of a span that a page gives complete
_CHUNK: Final = 500


@dataclass(frozen=True, slots=True)
class AuditSpan:
    """The numbers of the first and the last row. With `reader` None every row is complete, however many there are.

    Rows of other subjects that begin with `only_own` are links, if it is not empty.
    """

    own: tuple[str, ...]
    first: int
    last: int
    reader: "Person | None"
    only_own: str = ""

    def lines(self) -> Iterator[str]:
        """Each row as one line of JSON."""
        complete_rows = self._complete_rows()
        for event in self._rows().order_by("seq").iterator(chunk_size=_CHUNK):
            is_own = event.subject in self.own
            is_other = bool(self.only_own) and event.subject.startswith(self.only_own) and not is_own
            is_complete = is_own or ((complete_rows is None or event.seq in complete_rows) and not is_other)
            yield json.dumps(_row(event) if is_complete else _link(event)) + "\n"

    def ends(self) -> dict[str, Any]:
        """Number and hash of the first and the last row, and of the newest row of the whole trail."""
        hashes = dict(self._rows().filter(seq__in=(self.first, self.last)).values_list("seq", "hash"))
        newest = models.AuditEvent.objects.order_by("-seq").values_list("seq", "hash").first()
        return {
            "first": [self.first, hashes[self.first]],
            "last": [self.last, hashes[self.last]],
            "head": list(newest or ()),
        }

    def _rows(self) -> Any:
        return models.AuditEvent.objects.filter(seq__range=(self.first, self.last))

    def _complete_rows(self) -> Collection[int] | None:
        """The numbers of the rows that are complete; None for all of them."""
        if self.reader is None:
            return None
        if self.last - self.first >= MOST_COMPLETE:
            return set()
        if trail_readers.reads_all(self.reader):
            return None
        readable = trail_readers.readable(self.reader).filter(seq__range=(self.first, self.last))
        return set(readable.values_list("seq", flat=True))


def of_payout(row: Withdrawal, *, reader: "Person | None") -> AuditSpan:
    """The span of a payout and the comments on it, for a reader."""
    own = (row.subject, f"{words.THREAD}:{row.subject}")
    ends = models.AuditEvent.objects.filter(subject__in=own).aggregate(first=Min("seq"), last=Max("seq"))
    return AuditSpan(own, ends["first"], ends["last"], reader)


def _row(event: "AuditEvent") -> dict[str, Any]:
    return {"row": trail.content_of(event), "hash": event.hash}


def _link(event: "AuditEvent") -> dict[str, Any]:
    return {"seq": event.seq, "prev": event.prev, "hash": event.hash}
