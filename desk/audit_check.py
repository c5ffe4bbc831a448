"""Checks the audit trail without trusting it: chain, guards, heads stored outside, signatures, and replayed rows.

Every finding is one sentence. An empty list means that nothing was changed, removed, inserted, swapped or cut off since
the events were written, as far as the heads outside the database and the signed ones reach.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.db import connection

from desk import clock, models, rooms
from desk.audit import heads, installed_guards, trail, witness_chain
from desk.people import stepup
from desk.people.signing import signed_lists

if TYPE_CHECKING:
    from desk.models import AuditEvent

# More findings of one kind say nothing new: one edit breaks no later link, but a rewritten table would fill pages.
# Each kind has its own limit, so that dropping every trigger does not hide which rows were changed.
MOST_FINDINGS = 100
# SQLite's own transactions begin IMMEDIATE here, for writing, and would keep every writer waiting.
_BEGIN = {"sqlite": "BEGIN DEFERRED", "postgresql": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one run: `findings` as sentences (at most a hundred and one of a kind), events and head."""

    findings: tuple[str, ...]
    events: int
    head: str
    begun_at: datetime
    ended_at: datetime

    @property
    def holds(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


def run(*, replay: bool = False) -> Result:
    """Check everything, and with `replay` rebuild the rows from the events and compare every witnessed row as well."""
    begun = clock.now()
    findings = verify(replay=replay)
    return Result(tuple(findings), models.AuditEvent.objects.count(), trail.head(), begun, clock.now())


def verify(*, replay: bool = False) -> list[str]:
    """Every problem found, as sentences; at most a hundred of each kind.

    The desk keeps working meanwhile. So the files of heads are read first, and then the rows as of one moment: rows
    written later are not taken for rows without an entry, nor heads for heads without an event.
    """
    sources = _sources({}, replay=replay)
    with _one_moment():
        return _listed(sources)


@contextmanager
def _one_moment() -> Iterator[None]:
    """Read the rows of one moment, that of the first query; nobody waits for it, and nothing may be written.

    Inside a transaction of the caller it does nothing: that transaction decides what is read.
    """
    if connection.in_atomic_block:
        yield
        return
    _execute(_BEGIN[connection.vendor])
    try:
        yield
    finally:
        _execute("ROLLBACK")


def _execute(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def _listed(sources: list[Iterable[str]]) -> list[str]:
    findings: list[str] = []
    while sources:
        # Read to the end all the same: that fills what later checks compare with.
        of_kind = [finding for number, finding in enumerate(sources.pop(0)) if number <= MOST_FINDINGS]
        findings += of_kind[:MOST_FINDINGS]
        if len(of_kind) > MOST_FINDINGS:
            findings.append("Further findings of this kind are not listed.")
    return findings


def _sources(hashes: dict[int, str], *, replay: bool) -> list[Iterable[str]]:
    """The checks, in order. No row is read before the sentences of the first are read."""
    sources: list[Iterable[str]] = [
        installed_guards.findings(),
        _chain(hashes),
        heads.findings(
            trail.heads_path(), hashes, chain="trail", file="heads file", lost=rooms.lost_heads(trail.HEADS_FILE)
        ),
        _signed_heads(hashes),
        _named_proofs(),
    ]
    if replay:
        sources += [_replayed(name, function) for name, function in rooms.replays().items()]
        sources.append(witness_chain.findings())
    return sources


def _chain(hashes: dict[int, str]) -> Iterator[str]:
    """Check the events in order; fills `hashes` with the hash of each event, by seq."""
    expected_seq, prev = 1, trail.NO_HEAD
    try:
        for event in _events():
            if event.seq != expected_seq:
                yield f"Event {expected_seq} is missing: the next one is {event.seq}."
            if event.prev != prev:
                yield f"Event {event.seq} does not link to the previous event: its previous hash does not match."
            if trail.hash_of(event) != event.hash:
                yield f"Event {event.seq} was changed: its content does not match its hash."
            hashes[event.seq] = event.hash
            expected_seq, prev = event.seq + 1, event.hash
    except (ValueError, TypeError, AttributeError) as error:  # SQLite keeps whatever is put into a column
        why = type(error).__name__
        yield f"An event after event {expected_seq - 1} can't be read: its columns were changed ({why})."


def _events(**where: Any) -> Iterator["AuditEvent"]:
    return models.AuditEvent.objects.filter(**where).order_by("seq").iterator(chunk_size=2000)


def _signed_heads(hashes: dict[int, str]) -> Iterator[str]:
    """Check the head that every confirmation names, and the signatures of passkeys."""
    trail_heads = {trail.NO_HEAD, *hashes.values()}
    rows = models.StepUp.objects.select_related("person", "signed_with").order_by("pk")
    for row in rows.iterator(chunk_size=500):
        witness = f"The {row.get_kind_display()} given by {row.person} on {row.at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
        if row.audit_head not in trail_heads:
            yield f"{witness} belongs to a different trail."
        if row.kind == models.StepUp.Kind.PASSKEY and not stepup.signature_holds(row):
            yield f"{witness} no longer proves its decision: the stored signature, its content or the key was altered."
        if row.kind == models.StepUp.Kind.LIST and not signed_lists.holds(row):
            yield f"{witness} is not in the list that was signed: the list or the decision was altered."


def _named_proofs() -> Iterator[str]:
    """Check the confirmations against the digests of them that events record."""
    proofs = {row.pk: row.proof for row in models.StepUp.objects.iterator(chunk_size=2000)}
    for event in _events(after_text__contains='"proof":'):
        for number, proof in _pairs(_content(event)):
            if proofs.get(number) != proof:
                yield f"Event {event.seq} names second factor {number}, which has since been changed or removed."


def _content(event: "AuditEvent") -> Any:
    try:
        return json.loads(event.after_text)
    except (ValueError, RecursionError):
        return None


def _pairs(content: Any) -> Iterator[tuple[int, str]]:
    if isinstance(content, dict):
        if isinstance(content.get("step_up"), int) and isinstance(content.get("proof"), str):
            yield content["step_up"], content["proof"]
        for member in content.values():
            yield from _pairs(member)


def _replayed(name: str, function: rooms.Replay) -> Iterator[str]:
    try:
        yield from function(_events(subject__startswith=f"{name}:"))
    except Exception as error:  # a changed event can make a replay fall over anywhere: that is a finding, not a crash
        yield f"The replay of {name} stopped: {type(error).__name__}: {error}"
