"""How long people took in a rehearsal: each payout from the audit trail, each drill from its record.

A payout waits for people from the moment at which its money was reserved or, where approval comes first, at which it
was submitted. What another rule would have stopped is the back-test of a draft under Policy, not this report.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any, Final

from django.urls import reverse

from desk.audit import words
from desk.models import AuditEvent
from exchange_ops.rehearsals import spans
from exchange_ops.rehearsals.drills.conducting import Record, summary

_SUBJECT: Final = "withdrawal:"
_WAITS: Final = ("submitted", "hold_accepted", "hold_adopted")
_VOTES: Final = ("approval_recorded", "quorum_reached", "rejected")
_DECIDED: Final = {"quorum_reached": "approved", "rejected": "rejected", "time_over": "no decision in time"}


@dataclass(frozen=True, slots=True)
class PayoutTimes:
    """How one payout was decided. Seconds from when it waited for people; None for what has not happened."""

    reference: str
    requested_by: str
    requested: str
    first_vote_s: float | None
    decision_s: float | None
    outcome: str
    by: list[str]


def payouts() -> list[PayoutTimes]:
    """All payouts of the desk, in the order in which they were requested."""
    by_subject: defaultdict[str, list[AuditEvent]] = defaultdict(list)
    for event in AuditEvent.objects.filter(subject__startswith=_SUBJECT).order_by("seq"):
        by_subject[event.subject].append(event)
    telling = words.telling([event for events in by_subject.values() for event in events])
    return [_times(events, telling) for events in by_subject.values()]


def as_json(times: list[PayoutTimes], drills: list[Record]) -> dict[str, Any]:
    """The report for programs: seconds, and times as ISO 8601."""
    taken = _taken(times)
    return {
        "payouts": [asdict(each) for each in times],
        "decision_s": {"median": median(taken), "slowest": max(taken)} if taken else None,
        "drills": [asdict(each) for each in drills],
    }


def as_text(times: list[PayoutTimes], drills: list[Record], *, desk_url: str) -> list[str]:
    """The report for people, line by line."""
    lines = ["Payouts"]
    for each in times:
        vote, decision = _spoken(each.first_vote_s), _spoken(each.decision_s)
        by = f" by {', '.join(each.by)}" if each.by else ""
        lines.append(
            f"  {each.reference} requested by {each.requested_by}: first vote {vote}, decision {decision}: "
            f"{each.outcome}{by}"
        )
    taken = _taken(times)
    if taken:
        slowest = max((each for each in times if each.decision_s is not None), key=lambda each: each.decision_s or 0)
        lines.append(
            f"  From waiting to decision: median {_length(median(taken))}, slowest {_length(max(taken))} "
            f"({slowest.reference})."
        )
    else:
        lines.append("  No payout has been decided yet.")
    lines += ["", "Drills"]
    for record in drills:
        lines += [f"  {line}" for line in summary(record)]
    if not drills:
        lines.append("  No drill has been held yet: manage.py rehearse --drill NAME.")
    back_test = f"{desk_url}{reverse('policy')}"
    return [*lines, "", f"What other rules would have stopped: the back-test of a draft under {back_test}"]


def _times(events: list[AuditEvent], telling: words.Telling) -> PayoutTimes:
    moves = [(event.action.partition(".")[2], event) for event in events]
    votes = [(name, event) for name, event in moves if name in _VOTES]
    decided = next(((name, event) for name, event in moves if name in _DECIDED), None)
    until = votes[0][1].seq if votes else decided[1].seq if decided else events[-1].seq + 1
    waits = [event.at for name, event in moves if name in _WAITS and event.seq < until]
    since = waits[-1] if waits else events[0].at
    end = None if decided is None else decided[1]
    voters = [event for _, event in votes if end is None or event.seq <= end.seq]
    return PayoutTimes(
        reference=words.name_of(events[0].subject),
        requested_by=telling.who(events[0]),
        requested=events[0].at.isoformat(timespec="milliseconds"),
        first_vote_s=_seconds(since, votes[0][1].at) if votes else None,
        decision_s=None if end is None else _seconds(since, end.at),
        outcome=_DECIDED[decided[0]] if decided else "not decided",
        by=list(dict.fromkeys(telling.who(event) for event in voters)),
    )


def _seconds(since: datetime, at: datetime) -> float:
    return round(max((at - since).total_seconds(), 0.0), 3)


def _taken(times: Iterable[PayoutTimes]) -> list[float]:
    return [each.decision_s for each in times if each.decision_s is not None]


def _spoken(seconds: float | None) -> str:
    return "never" if seconds is None else f"after {_length(seconds)}"


def _length(seconds: float) -> str:
    return spans.spoken(timedelta(seconds=seconds))
