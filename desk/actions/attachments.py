"""Files that people attach to what waits: an invoice, a contract, a screenshot. None of them decides anything.

A file is stored once under the SHA-256 of its content, however often it is attached. Whoever reads it gets exactly that
content: a stored file that was changed outside the desk is not handed out.
"""

import hashlib
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.db import IntegrityError, transaction
from django.db.models import Count, QuerySet

from desk import invisible
from desk.actions import file_types, threads
from desk.actions.file_types import MOST_BYTES
from desk.actions.models import LONGEST_FILE_NAME, Attachment, StoredFile
from desk.actions.threads import CannotSay
from desk.live import announcements

if TYPE_CHECKING:
    from desk.models import AuditEvent, Person

MOST_FILES: Final = 20  # of one subject


class CannotRead(Exception):
    """The stored content isn't what was attached; the text is the sentence for the person."""


@dataclass(frozen=True, slots=True)
class File:
    """A file before it is attached: its name without folders, its kind, and its content of up to `MOST_BYTES`."""

    name: str
    kind: file_types.FileType
    content: bytes


def check(name: str, content: bytes) -> File:
    """The file of this name and content; what stands before the last slash of the name is dropped. Raises CannotSay."""
    name = re.split(r"[/\\]", name)[-1].strip()
    return File(name, _kind(name, content), content)


def attach(
    *, subject: str, person: "Person", file: File, request_key: str, now: datetime, session_key: str = ""
) -> Attachment:
    """Attach a file; the same request sent again attaches none. Raises CannotSay."""
    row = Attachment(
        subject=subject,
        person=person,
        stored_id=hashlib.sha256(file.content).hexdigest(),
        name=file.name,
        media_type=file.kind.media_type,
        size=len(file.content),
        request_key=request_key[:80],
        at=now,
    )
    if earlier := Attachment.objects.filter(person=person, request_key=row.request_key).first():
        return earlier
    try:
        with transaction.atomic():
            if Attachment.objects.filter(subject=subject).count() >= MOST_FILES:
                raise CannotSay(f"Not attached: {MOST_FILES} files are attached already, which is the most.")
            stored = StoredFile(sha256=row.stored_id, content=file.content)
            StoredFile.objects.bulk_create([stored], ignore_conflicts=True)
            row.save(force_insert=True)
            facts = {"name": file.name, "sha256": row.stored_id, "bytes": str(row.size), "type": file.kind.name}
            threads.record(subject, "attached", person, now=now, session_key=session_key, after=facts)
            # The facts of a request name its files: whoever is about to approve it sees a new one at once.
            announcements.announce(subject)
    except IntegrityError:
        return _earlier(row)
    return row


def of(subject: str) -> QuerySet[Attachment]:
    """The files of a subject, the oldest first, without their content."""
    return Attachment.objects.filter(subject=subject).select_related("person").order_by("at", "pk")


def of_each(subjects: Collection[str]) -> dict[str, list[Attachment]]:
    """The files of each of these subjects that has any, the oldest first."""
    rows = Attachment.objects.filter(subject__in=subjects).select_related("person").order_by("at", "pk")
    files: dict[str, list[Attachment]] = {}
    for row in rows:
        files.setdefault(row.subject, []).append(row)
    return files


def counts(subjects: Collection[str]) -> dict[str, int]:
    """How many files each of these subjects has."""
    rows = Attachment.objects.filter(subject__in=subjects).order_by().values("subject").annotate(number=Count("pk"))
    return {row["subject"]: row["number"] for row in rows}


def content_of(row: Attachment) -> bytes:
    """The content, exactly as it was attached. Raises CannotRead."""
    stored = StoredFile.objects.filter(pk=row.stored_id).first()
    content = bytes(stored.content) if stored else b""
    if hashlib.sha256(content).hexdigest() != row.stored_id:
        raise CannotRead(
            f"“{row.name}” is not what {row.person} attached: its content was changed in the database, outside the "
            "desk. No money moved. Tell an administrator; a backup has the original."
        )
    return content


def replay(events: Iterator["AuditEvent"]) -> Iterator[str]:
    """A sentence for every file that is not what the trail recorded, in its row or in its content."""
    recorded = {
        (event.subject.partition(":")[2], event.after["sha256"]): event
        for event in events
        if event.action == f"{threads.SUBJECT}.attached"
    }
    for row in Attachment.objects.order_by("pk"):
        event = recorded.pop((row.subject, row.stored_id), None)
        if event is None:
            yield f"attachment {row.pk}: no audit entry records this file"
        elif (event.actor_id, event.after["name"]) != (row.person_id, row.name):
            yield f"attachment {row.pk}: audit entry {event.seq} records another name or person"
    yield from (f"audit entry {event.seq}: the file that it records is missing" for event in recorded.values())
    for stored in StoredFile.objects.order_by("pk").iterator(chunk_size=1):
        if hashlib.sha256(bytes(stored.content)).hexdigest() != stored.pk:
            yield f"file {stored.pk}: the content was changed"


def _kind(name: str, content: bytes) -> file_types.FileType:
    """What kind of file it is. Raises CannotSay with the reason why it can't be attached."""
    if not content:
        raise CannotSay("Not attached: the file is empty.")
    if len(content) > MOST_BYTES:
        raise CannotSay(file_types.TOO_LARGE)
    if not name or len(name) > LONGEST_FILE_NAME:
        raise CannotSay(f"Not attached: file names can be up to {LONGEST_FILE_NAME} characters. Rename the file.")
    if invisible.revealed(name) != name:
        raise CannotSay("Not attached: the file name has invisible characters. Rename the file.")
    kind = file_types.named(name)
    if kind is None:
        raise CannotSay(f"Not attached: the file must be {file_types.NAMES}.")
    if not kind.holds(content):
        raise CannotSay(f"Not attached: “{name}” is not a {kind.name} file. It is damaged, or of another kind.")
    return kind


def _earlier(row: Attachment) -> Attachment:
    """The row that stands in the way of this one: the same request, or the same file attached before."""
    if same := Attachment.objects.filter(person=row.person, request_key=row.request_key).first():
        return same
    other = Attachment.objects.select_related("person").get(subject=row.subject, stored=row.stored_id)
    raise CannotSay(f"Not attached again: {other.person} already attached this file as “{other.name}”.")
