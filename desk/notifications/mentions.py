"""Comments that name somebody: "@name" notifies that person, if they may see what the comment is about."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.db import transaction

from desk import models
from desk.actions import entries, threads
from desk.actions.models import Comment
from desk.notifications import audiences, outgoing
from desk.notifications.models import Notification, Stage

if TYPE_CHECKING:
    from desk.models import Person

KIND: Final = "mentions"
LABEL: Final = "Someone mentions you in a comment"
MOST: Final = 20  # people whom one comment notifies
_NAME: Final = re.compile(r"(?<![\w@.+-])@([\w.@+-]{1,150})", re.ASCII)


def comment(
    *, subject: str, person: "Person", text: str, request_key: str, now: datetime, session_key: str = ""
) -> Comment:
    """Add a comment (`threads.comment`) and notify those whom it names. Sent again, it does neither twice."""
    with transaction.atomic():
        row = threads.comment(
            subject=subject, person=person, text=text, request_key=request_key, now=now, session_key=session_key
        )
        readers = dict(_readers(row))
        if readers and not Notification.objects.filter(subject=row.subject, phase=_phase(row)).exists():
            _notify(row, readers, now)
    return row


def _notify(row: Comment, readers: "dict[Person, str]", now: datetime) -> None:
    notification = Notification(
        stage=Stage.NEWS,
        subject=row.subject,
        phase=_phase(row),
        kind=KIND,
        reference=row.subject[:40],
        title=f"{row.person.get_username()} mentioned you in a comment",
        sentence=row.text[:600],
        url=next(iter(readers.values())),
        created_at=now,
        ended_at=now,
    )
    outgoing.post(notification, [audiences.route(notification, reader) for reader in readers], (), now=now)


def _phase(row: Comment) -> str:
    return f"comment {row.pk}"


def _readers(row: Comment) -> "Iterator[tuple[Person, str]]":
    """Those whom the comment names and who may see its subject, each with the address of the page."""
    names = {name.rstrip(".+-@") for name in _NAME.findall(row.text)}
    if not names:
        return
    kind, _, number = row.subject.partition(":")
    people = models.Person.objects.filter(is_active=True, username__in=names).exclude(pk=row.person_id)
    for reader in people.prefetch_related("groups").order_by("pk")[:MOST]:
        if address := entries.page_of(reader, kind, int(number)):
            yield reader, address
