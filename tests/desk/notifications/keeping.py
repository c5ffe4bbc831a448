"""What the tests about telling people share: something that waits, for whom and until when, as a test says."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta

from desk import rooms
from desk.actions.entries import Entry, Source
from desk.notifications.models import Availability, Channel, Delivery, Notification, Preference

NOW = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)


@dataclass
class Waits:
    """Decisions that wait: by subject, who may make them, when their time is over and in which phase they are."""

    deciders: dict = field(default_factory=dict)
    deadlines: dict = field(default_factory=dict)
    phases: dict = field(default_factory=dict)
    over: dict = field(default_factory=dict)
    rows: dict = field(default_factory=dict)
    facts: dict = field(default_factory=dict)

    def waiting(self, person, now):
        return [self._entry(subject, person in people, now) for subject, people in self.deciders.items()]

    def done(self, person, now):
        found = []
        for subject, (outcome, done_by) in self.over.items():
            entry = self._entry(subject, False, now)
            entry.outcome, entry.done_by = outcome, done_by
            found.append(entry)
        return found

    def count(self, person, scope):
        return len(self.subjects_of(person))

    def recipients(self, people):
        for person in people:
            yield from ((person, (name, self.phases.get(name, ""))) for name in self.subjects_of(person))

    def subjects_of(self, person):
        return [subject for subject, people in self.deciders.items() if person in people]

    def _entry(self, subject, is_mine, now):
        return Entry(
            subject=subject,
            reference=subject.replace("payout:", "W-"),
            title="Payout",
            sentence="The money is reserved. Two people decide.",
            url=f"/withdrawals/{subject.partition(':')[2]}/",
            since=now,
            tone="warn",
            label="Held",
            mine=is_mine,
            deadline=self.deadlines.get(subject),
            clock=now,
            phase=self.phases.get(subject, ""),
            row=self.rows.get(subject),
            facts=self.facts.get(subject, {}),
            lapse="the funds are released and the request expires",
        )

    def source(self):
        return Source(
            "approvals", "Approvals", self.waiting, self.done, self.count, {}, "", "", ("treasury",), self.recipients
        )


def place(monkeypatch, waits):
    """Nothing else waits for anybody."""
    monkeypatch.setattr(rooms, "actions", lambda: [waits.source()])


def stages():
    return list(Notification.objects.order_by("pk").values_list("subject", "stage"))


def mailed(stage="opened"):
    rows = Delivery.objects.filter(notification__stage=stage, medium="email").order_by("person__username")
    return list(rows.values_list("person__username", flat=True))


def quiet(person, begins, ends, turn=1):
    return Availability.objects.create(person=person, quiet_from=time(begins), quiet_until=time(ends), turn=turn)


def turn(person, number):
    return Availability.objects.create(person=person, turn=number)


def chosen(person, kind, *, by_email, in_browser=True):
    return Preference.objects.create(person=person, kind=kind, by_email=by_email, in_browser=in_browser)


def minutes(count):
    return timedelta(minutes=count)


__all__ = ["NOW", "Channel", "Delivery", "Waits", "chosen", "mailed", "minutes", "place", "quiet", "stages", "turn"]
