"""Items of going live that only a person can know, confirmed by an administrator in the audit trail."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction

from desk import sealing
from desk.audit import trail
from desk.models import AuditEvent
from desk.people import roles

if TYPE_CHECKING:
    from desk.models import Person

KEY_RING, BACKUP = "key-ring", "backup"
SAYS: Final = {
    KEY_RING: "A copy of the key ring and of SECRET_KEY is stored on another machine",
    BACKUP: "A backup was restored and checked on another machine",
}
ACTION: Final = "going-live.confirmed"
LONGEST_COMMENT: Final = 300


class CannotConfirm(Exception):
    """Nothing was recorded; the text is the sentence for the person."""


def may_confirm(person: "Person") -> bool:
    """Administrators run the machine, so they confirm what was done with it."""
    return person.has_role(roles.ADMIN, scope="")


def confirm(name: str, *, actor: "Person", comment: str, session_key: str, now: datetime) -> AuditEvent:
    """Record that it was done, where and how, with the present key ring. Raises CannotConfirm."""
    comment = comment.strip()
    if not may_confirm(actor):
        raise CannotConfirm("Only administrators can confirm this.")
    if name not in SAYS:
        raise CannotConfirm("Unknown item. Refresh the page.")
    if not 0 < len(comment) <= LONGEST_COMMENT:
        raise CannotConfirm(f"Enter where and how this was done, up to {LONGEST_COMMENT} characters.")
    with transaction.atomic():
        return trail.record(
            actor=actor,
            action=ACTION,
            subject=_subject(name),
            before={},
            after={"says": SAYS[name], "comment": comment, "ring": sealing.newest_id()},
            now=now,
            session_key=session_key,
        )


def newest(name: str) -> AuditEvent | None:
    """The last confirmation, if there is one."""
    events = AuditEvent.objects.filter(subject=_subject(name), action=ACTION).select_related("actor")
    return events.order_by("-seq").first()


def facts_of(event: AuditEvent) -> dict[str, Any]:
    """The recorded facts: `comment`, and `ring`, the newest key of the ring at that time."""
    return event.after


def _subject(name: str) -> str:
    return f"going-live:{name}"
