"""Brings the incidents in line with what is wrong now: one is opened for each cause and cleared when that is gone.

Called in the transaction of a change for the kinds that it concerns, and every few seconds for all kinds. Any number of
processes may do so at once: the database allows one row for a cause, and the first process makes the move.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime

import structlog
from django.db import IntegrityError, transaction

from desk import rooms
from desk.audit import trail
from desk.incidents import machine, states
from desk.incidents.kinds import Cause, Kind
from desk.incidents.models import Incident
from desk.processes import uptime

LONGEST_SENTENCE = 500
_log = structlog.get_logger(__name__)
_FIGURES = re.compile(r"\d+")


def review(*, now: datetime) -> int:
    """Review every kind; the number of incidents opened or ended. A kind whose review fails stays as it is."""
    alive_s = uptime.seconds()
    changed = 0
    # The rows first: a cause that came up in between is opened by this round or the next, and never cleared by mistake.
    existing: defaultdict[str, dict[str, Incident]] = defaultdict(dict)
    for row in Incident.objects.filter(gone_at__isnull=True):
        existing[row.kind][row.cause] = row
    for kind in rooms.incidents():
        if kind.grace_period.total_seconds() > alive_s:
            continue
        try:
            changed += _compare(kind, existing[kind.name], now)
        except Exception:
            _log.exception("incidents.review_failed", kind=kind.name)
    return changed


def review_now(*names: str, now: datetime, key: str = "") -> None:
    """Review these kinds in the transaction that changed something they look at.

    With the `key` of a cause only that cause is reviewed, so that a thousand changes cost a thousand small reviews.
    """
    for kind in rooms.incidents():
        if kind.name in names:
            rows = Incident.objects.filter(kind=kind.name, gone_at__isnull=True, **({"cause": key} if key else {}))
            _compare(kind, {row.cause: row for row in rows}, now, key)


def _compare(kind: Kind, existing: Mapping[str, Incident], now: datetime, key: str = "") -> int:
    causes = {cause.key: cause for cause in kind.causes(now, key)}
    opened = sum(_open(kind, cause, now) for name, cause in causes.items() if name not in existing)
    ended = sum(_clear(row, now) for name, row in existing.items() if name not in causes)
    _refresh_sentences((row, causes[name]) for name, row in existing.items() if name in causes)
    return opened + ended


def _open(kind: Kind, cause: Cause, now: datetime) -> bool:
    sentence = cause.sentence[:LONGEST_SENTENCE]
    row = Incident(
        kind=kind.name,
        cause=cause.key,
        scope=cause.scope,
        severity=kind.severity,
        page=cause.page,
        page_key=cause.page_key,
        last_problem=sentence,
    )
    try:
        with transaction.atomic():
            trail.take_turn()
            machine.create(row, event="opened", now=now, evidence={"sentence": sentence})
    except IntegrityError:
        return False  # somebody else opened it in this moment
    return True


def _clear(row: Incident, now: datetime) -> bool:
    event = "gone" if row.state == states.RESOLVED else "cleared"
    try:
        with transaction.atomic():
            machine.move(row, event=event, to=states.RESOLVED, now=now, gone_at=now)
    except machine.CannotMove:
        return False  # somebody acted on it in this moment; the next round sees it
    return True


def _refresh_sentences(rows: Iterable[tuple[Incident, Cause]]) -> None:
    """Write the current sentence where it differs in more than its figures: an age that grows is no news."""
    for row, cause in rows:
        sentence = cause.sentence[:LONGEST_SENTENCE]
        if row.state != states.RESOLVED and _FIGURES.sub("", row.last_problem) != _FIGURES.sub("", sentence):
            machine.touch(row, last_problem=sentence)
