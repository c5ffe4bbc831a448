"""Notices that the database is that of an earlier moment.

Two things outside the database know how far it was: the files of heads, written after each commit, and the broker, told
before each call leaves. Where an entry that they know is missing in the database, or is another one, the database fell
back. `manage.py restore` says so itself, and a room may learn it from the outside system (`notice`).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Final

import redis
import structlog
from django.conf import settings
from django.db import IntegrityError, transaction

from desk.audit import heads, trail, witness_chain
from desk.models import AuditEvent, RowWitness
from desk.restores import machine, states
from desk.restores.models import Restore, RestoreEvent

BROKER_SECONDS: Final = 0.5
_KEY: Final = "countersign:newest-entry"
_FILES: Final = {witness_chain.HEADS_FILE: RowWitness.objects, trail.HEADS_FILE: AuditEvent.objects}
_CHUNK: Final = 500
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Sign:
    """One sign that the database fell back: its kind and the facts.

    `lost_heads` among the facts name the last line of each file that knows more. `before` is a moment from which on
    everything is lost, where the sign tells one.
    """

    kind: str
    facts: dict[str, Any] = field(default_factory=dict)
    before: datetime | None = None


def check(*, now: datetime) -> str:
    """Look for a sign and record it; the sentence why nothing may be sent, or an empty text."""
    sign = _of_files() or _of_broker()
    if sign is not None:
        notice(sign, now=now)
    return problem()


def problem() -> str:
    """Why nothing may be sent, as long as a restore is open; else an empty text."""
    row = Restore.objects.filter(state=states.OPEN).first()
    return "" if row is None else f"Nothing is sent: the database was restored to an earlier state ({row.reference})."


def notice(sign: Sign, *, now: datetime) -> Restore:
    """Open a restore for this sign, or add the sign to the open one."""
    evidence = {"sign": sign.kind, **sign.facts}
    newest, as_of = _where_they_end(sign)
    try:
        with transaction.atomic():
            row = Restore(sign=sign.kind, newest=newest, as_of=as_of)
            machine.create(row, event="noticed", to=states.OPEN, now=now, evidence=evidence)
    except IntegrityError:
        row = _again(evidence, now)
    tell_broker()  # from here on the broker knows what the database has
    _log.error("restores.noticed", restore=row.pk, **{name: str(value) for name, value in evidence.items()})
    return row


def restored(*, facts: Mapping[str, Any], now: datetime) -> Restore:
    """Record that the desk's own command has put a backup back, with what the files of heads here know."""
    sign = _of_files()
    return notice(Sign(states.COMMAND, {**(sign.facts if sign else {}), **facts}), now=now)


def tell_broker() -> None:
    """Tell the broker how far the database is, before a call leaves. A broker that is away is skipped."""
    key, newest = _identity(), RowWitness.objects.order_by("-seq").values_list("seq", "hash").first()
    if not key or newest is None:
        return
    try:
        _broker(settings.REDIS_URL).set(key, f"{newest[0]} {newest[1]}")
    except (redis.RedisError, OSError) as error:
        _log.info("restores.broker_not_told", reason=type(error).__name__)


def lost_heads(name: str) -> list[tuple[int, str]]:
    """The heads of a file that people gave up as lost, as `heads.findings` takes them."""
    settled = Restore.objects.filter(state=states.SETTLED).order_by("pk")
    events = [each for row in settled for each in row.events.all() if each.event in states.NOTICED]
    return [
        (lost["newest"], lost["line"])
        for each in events
        for lost in each.evidence.get("lost_heads", ())
        if lost["file"] == name
    ]


def _where_they_end(sign: Sign) -> tuple[int, datetime | None]:
    """The last row entry from before the database fell back, and its time; later entries are left out."""
    entries = RowWitness.objects.order_by("-seq")
    for lost in sign.facts.get("lost_heads", ()):
        if lost["file"] == witness_chain.HEADS_FILE:
            entries = entries.filter(seq__lte=lost["newest"])
    if sign.before is not None:
        entries = entries.filter(at__lt=sign.before)
    return entries.values_list("seq", "at").first() or (0, None)


def _again(evidence: dict[str, Any], now: datetime) -> Restore:
    """Add the sign to the open restore. A host does so once, since the move writes a head into its own file."""
    with transaction.atomic():
        row = machine.lock(Restore.objects.get(state=states.OPEN).pk)
        return machine.move(row, event="noticed_again", to=states.OPEN, now=now, evidence=evidence)


@dataclass(slots=True)
class _Reader:
    """How far this process has read a file of heads, the line with the highest number, and which lines to check.

    Numbers grow, except where two processes wrote at the same time. Where a number falls, the highest line so far is to
    be checked: if the database fell back, it is not there.
    """

    file: int = 0
    end: int = 0
    highest: heads.Line | None = None
    unchecked: list[heads.Line] = field(default_factory=list)

    def read(self, name: str, *, given_up: Collection[str] = ()) -> list[heads.Line]:
        """The lines to check; those up to a line of `given_up` are ignored."""
        lines, self.end = heads.lines(heads.folder() / name, start=self.end)
        for line in lines:
            if self.highest is not None and line.seq <= self.highest.seq:
                self.unchecked.append(self.highest)
            self.highest = line if self.highest is None or line.seq > self.highest.seq else self.highest
            if line.text in given_up:
                self.highest, self.unchecked = None, []
        return self.unchecked if self.highest is None else [*self.unchecked, self.highest]


_readers: dict[str, _Reader] = {}


def _of_files() -> Sign | None:
    """Compare the files with the rows. The file is read first: a head is written after its row."""
    lost = [facts for name in _FILES if (facts := _lost_of(name)) is not None]
    return Sign(states.HEADS, {"lost_heads": lost}) if lost else None


def _lost_of(name: str) -> dict[str, Any] | None:
    path, (file, size) = str(heads.folder() / name), _stat(name)
    reader = _readers.get(path)
    if reader is None or reader.file != file or reader.end > size:
        reader = _readers[path] = _Reader(file)
    if not _missing(name, reader.read(name)):
        reader.unchecked = []
        return None
    # Another process may have recorded this loss already.
    reader = _readers[path] = _Reader(file)
    missing = _missing(name, reader.read(name, given_up=_given_up(name)))
    if not missing:
        reader.unchecked = []
        return None
    return {"file": name, **_where_it_parts(name, max(missing, key=lambda line: line.seq))}


def _where_it_parts(name: str, highest: heads.Line) -> dict[str, Any]:
    """From which number on the file and the database differ: the run of missing lines that ends with the highest."""
    lines, _ = heads.lines(heads.folder() / name)
    newest = highest.seq - 1
    for line in reversed(lines[: lines.index(highest)]):
        if not _missing(name, [line]):
            break
        newest = min(newest, line.seq - 1)
    return {"newest": newest, "known": highest.seq, "line": lines[-1].text}


def _given_up(name: str) -> set[str]:
    """The last line at each time that a loss was noticed, settled or not."""
    events = RestoreEvent.objects.filter(event__in=states.NOTICED).values_list("evidence", flat=True)
    return {lost["line"] for facts in events for lost in facts.get("lost_heads", ()) if lost["file"] == name}


def _missing(name: str, lines: list[heads.Line]) -> list[heads.Line]:
    """The lines that the database lacks or has with another hash."""
    missing = []
    for start in range(0, len(lines), _CHUNK):
        chunk = lines[start : start + _CHUNK]
        rows = _FILES[name].filter(seq__in={line.seq for line in chunk})
        hashes = dict(rows.values_list("seq", "hash"))
        missing += [line for line in chunk if hashes.get(line.seq) != line.hash]
    return missing


def _stat(name: str) -> tuple[int, int]:
    """The inode and the size in bytes."""
    try:
        about = (heads.folder() / name).stat()
    except OSError:
        return 0, 0
    return about.st_ino, about.st_size


def _of_broker() -> Sign | None:
    key = _identity()
    if not key:
        return None
    try:
        entry: Any = _broker(settings.REDIS_URL).get(key)
    except (redis.RedisError, OSError):
        return None
    seq, _, hash = (entry or b"").decode().partition(" ")
    if not seq.isdigit() or RowWitness.objects.filter(seq=int(seq), hash=hash).exists():
        return None
    return Sign(states.BROKER, {"known": int(seq)})


@cache
def _broker(address: str) -> redis.Redis:
    return redis.Redis.from_url(
        address, socket_timeout=BROKER_SECONDS, socket_connect_timeout=BROKER_SECONDS, retry=None
    )


def _identity() -> str:
    """The broker's key for this database, made from its first entry, which every copy and backup of it has."""
    first = RowWitness.objects.filter(seq=1).values_list("hash", flat=True).first()
    return f"{_KEY}:{first}" if first else ""
