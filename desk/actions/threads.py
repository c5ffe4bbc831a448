"""Commenting on what waits, taking it on and putting it back. None of this decides anything."""

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.db.models import Count, QuerySet

from desk.actions.models import LONGEST_COMMENT, Comment, Taken
from desk.audit import trail
from desk.live import announcements

if TYPE_CHECKING:
    from desk.models import Person

TOPIC = "threads"
SUBJECT = "thread"  # what the subjects of its events begin with


class CannotSay(Exception):
    """Nothing was stored; the text is the sentence for the person."""


def comment(
    *, subject: str, person: "Person", text: str, request_key: str, now: datetime, session_key: str = ""
) -> Comment:
    """Add a remark to the thread; the same request sent again adds none."""
    text = text.strip()
    if not text:
        raise CannotSay("Enter a comment.")
    if len(text) > LONGEST_COMMENT:
        raise CannotSay(
            f"Comment not saved: comments can be up to {LONGEST_COMMENT} characters; this one is {len(text)}."
        )
    row = Comment(subject=subject, person=person, text=text, request_key=request_key[:80], at=now)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
            record(subject, "commented", person, now=now, session_key=session_key, after={"text": text})
    except IntegrityError:
        return Comment.objects.get(person=person, request_key=request_key[:80])
    return row


def take_on(*, subject: str, person: "Person", now: datetime, session_key: str = "") -> bool:
    """Record that this person looks after it; False where somebody does already."""
    try:
        with transaction.atomic():
            Taken.objects.create(subject=subject, person=person, at=now)
            record(subject, "taken", person, now=now, session_key=session_key)
    except IntegrityError:
        return False
    return True


def put_back(*, subject: str, person: "Person", now: datetime, session_key: str = "") -> bool:
    """Record that nobody looks after it any more. Everybody may do so, also for a colleague who is away."""
    with transaction.atomic():
        if not Taken.objects.filter(subject=subject).delete()[0]:
            return False
        record(subject, "put_back", person, now=now, session_key=session_key)
    return True


def comments(subject: str) -> QuerySet[Comment]:
    """The comments on a subject, the oldest first."""
    return Comment.objects.filter(subject=subject).select_related("person").order_by("at", "pk")


def taken_by(subjects: Collection[str]) -> "dict[str, Person]":
    """Who looks after each of these."""
    return {row.subject: row.person for row in Taken.objects.filter(subject__in=subjects).select_related("person")}


def counts(subjects: Collection[str]) -> dict[str, int]:
    """How many comments each of these subjects has."""
    rows = Comment.objects.filter(subject__in=subjects).order_by().values("subject").annotate(number=Count("pk"))
    return {row["subject"]: row["number"] for row in rows}


def commented_by(person: "Person", subjects: Collection[str]) -> set[str]:
    """Those of these subjects on which this person has commented."""
    rows = Comment.objects.filter(subject__in=subjects, person=person)
    return set(rows.order_by().values_list("subject", flat=True).distinct())


def record(
    subject: str, action: str, person: "Person", *, now: datetime, session_key: str, after: dict[str, str] | None = None
) -> None:
    """Write what a person did with a thread to the trail, and tell the browsers that show it."""
    trail.record(
        actor=person,
        action=f"{SUBJECT}.{action}",
        subject=f"{SUBJECT}:{subject}",
        before={},
        after=after or {},
        now=now,
        session_key=session_key,
    )
    announcements.announce(TOPIC, subject=subject)
