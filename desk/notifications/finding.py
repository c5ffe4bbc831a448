"""Finds what to notify people of, from rows: what waits for whom, until when, and what no longer waits.

Nothing is remembered except the notifications. A constraint of the database allows one for each phase and stage of a
subject, so any number of processes may do this at once; the first one makes it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from desk.actions import entries
from desk.actions.entries import Entry, Source
from desk.models import Person
from desk.notifications import audiences, digests, endings, facts, outgoing, requests, rerouting
from desk.notifications.models import Notification, Stage
from desk.people import roles

LATER: Final = timedelta(minutes=20)
INCIDENTS: Final = "incidents"
_DECIDERS: Final = (roles.OPERATOR, roles.TREASURY, roles.ADMIN)


@dataclass(slots=True)
class Waiting:
    """One entry that waits, with everybody who can act on it now."""

    source: Source
    entry: Entry
    people: list[Person] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str]:
        """The subject and phase: there is one notification of these for each stage."""
        return (self.entry.subject, self.entry.phase)

    @property
    def is_incident(self) -> bool:
        """Whether something is wrong, rather than a decision to be made."""
        return self.source.name == INCIDENTS

    @property
    def kind(self) -> str:
        """The name under which people choose whether they are notified."""
        return self.entry.kind or self.source.name

    def remaining(self) -> timedelta | None:
        """How long until it is too late for a decision."""
        entry = self.entry
        return None if entry.deadline is None or entry.clock is None else entry.deadline - entry.clock

    def deadline(self, now: datetime) -> datetime | None:
        """The deadline by our own clock."""
        remaining = self.remaining()
        return None if remaining is None else now + remaining


def notify_due(*, now: datetime) -> int:
    """Make the notifications that are due; how many there were."""
    # Read before what waits: what another process notifies of meanwhile must not be taken for something that is over.
    earlier: dict[tuple[str, str], list[Notification]] = {}
    for row in Notification.objects.filter(ended_at=None).exclude(stage=Stage.ENDED).order_by("pk"):
        earlier.setdefault((row.subject, row.phase), []).append(row)
    people = list(_people())
    waiting = _waiting(people, now)
    count, due = 0, [key for key, item in waiting.items() if _due_stage(item, earlier.get(key, ()))]
    # Read anew for everybody: a person who was read before the row came up would never be notified of it.
    waiting |= _waiting(people, now) if due else {}
    for key in due:
        stage = _due_stage(waiting[key], earlier.get(key, ()))
        count += _notify(waiting[key], stage, now) if stage is not None else 0
    rerouting.reroute({key: item.people for key, item in waiting.items()}, now=now)
    subjects = {subject for subject, _ in waiting}
    for key, rows in earlier.items():
        if key not in waiting:
            count += endings.close_phase(rows, people, is_over=key[0] not in subjects, now=now)
    count += requests.notify({person.pk: person for person in people}, now=now)
    digests.gather(now=now)
    return count


def _people() -> Iterable[Person]:
    rows = Person.objects.filter(is_active=True, groups__name__in=_DECIDERS).distinct().order_by("pk")
    return rows.prefetch_related("groups", "preferences").select_related("availability", "personal")


def _waiting(people: Sequence[Person], now: datetime) -> dict[tuple[str, str], Waiting]:
    items: dict[tuple[str, str], Waiting] = {}
    for source in entries.sources():
        read: set[int] = set()
        for person, key in source.recipients(people):
            if key not in items and person.pk not in read:
                # Reading an entry takes far longer than finding its recipients, and is the same for all of them.
                read.add(person.pk)
                for item in _read(source, person, now):
                    items.setdefault(item.key, item)
            if key in items:
                items[key].people.append(person)
    return {key: item for key, item in items.items() if item.people}


def _read(source: Source, person: Person, now: datetime) -> list[Waiting]:
    return [Waiting(source, entry) for entry in source.waiting(person, now) if entry.mine]


def _due_stage(item: Waiting, rows: Iterable[Notification]) -> Stage | None:
    """The stage of which people are to be notified now; None where there is none, or they were."""
    stage = _stage(item)
    return None if stage is None or stage in {row.stage for row in rows} else stage


def _stage(item: Waiting) -> Stage | None:
    """The stage by the remaining time; None when the time is over and nobody can act any more."""
    remaining = item.remaining()
    if remaining is None or remaining > LATER:
        return Stage.OPENED
    if remaining > audiences.LAST:
        return Stage.ESCALATED
    return Stage.EVERYBODY if remaining > timedelta(0) else None


def _notify(item: Waiting, stage: Stage, now: datetime) -> int:
    entry = item.entry
    again = Notification.objects.filter(subject=entry.subject, phase=entry.phase, stage=stage)
    if again.update(ended_at=None):
        endings.revive(again, now=now)
        return 0  # it waited for nobody for a while, and its recipients know of it already
    row = Notification(
        stage=stage,
        subject=entry.subject,
        phase=entry.phase,
        kind=item.kind,
        severity=entry.severity,
        reference=entry.reference,
        title=entry.title[:200],
        sentence=(f"{entry.place}: {entry.sentence}" if entry.place else entry.sentence)[:600],
        url=entry.url,
        deadline=item.deadline(now),
        facts=facts.of(entry),
        created_at=now,
    )
    channels = audiences.channels_for(row, is_decision=not item.is_incident)
    return outgoing.post(row, audiences.routes(row, item.people), channels, now=now)
