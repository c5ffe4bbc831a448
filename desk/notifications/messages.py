"""The texts of notifications: the same facts as a mail, as the body of a webhook and as a line in a chat.

No message approves anything, and none carries a secret. A subject line has a reference and a title, never an address
or an amount, because locked screens show it.
"""

import json
from datetime import UTC, datetime
from typing import Any, Final

from django.conf import settings

from desk.audit import trail
from desk.incidents.kinds import Severity
from desk.invisible import revealed
from desk.notifications.models import Medium, Notification, Stage
from desk.staff import links

NAME: Final = "Countersign"
LONGEST_SUBJECT: Final = 120
_CHAT: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def subject(row: Notification) -> str:
    """The subject line of a mail: one line, without characters that reverse the direction of text."""
    text = _line(f"[{NAME}] {headline(row)}")
    return text if len(text) <= LONGEST_SUBJECT else f"{text[: LONGEST_SUBJECT - 1]}…"


def content(row: Notification, medium: str) -> str:
    """The text for a medium."""
    return _BY_MEDIUM[Medium(medium)](row)


def mail(row: Notification) -> str:
    """The text of a mail."""
    lines = [_line(headline(row)), "", _line(row.sentence)]
    if row.deadline is not None and row.stage != Stage.ENDED:
        lines += ["", f"The desk goes on without a decision at {_moment(row.deadline)}."]
    lines += [
        "",
        f"Look at it: {address(row)}",
        "",
        "You decide on that page, with your second factor. No link approves.",
    ]
    lines += ["", "--", f"{NAME}. The audit trail ended with {trail.head()[:16]} when this was sent."]
    lines += [f"Choose what you are notified of: {settings.DESK_URL}/account/notifications/"]
    return "\n".join(lines)


def webhook(row: Notification) -> str:
    """The body of a webhook: its type, when it was, and the facts."""
    what = "incident" if row.severity else "decision"
    body: dict[str, Any] = {
        "type": f"{what}.{row.stage}",
        "timestamp": _moment(row.created_at),
        "data": {
            "id": str(row.uid),
            "subject": row.subject,
            "reference": row.reference,
            "kind": row.kind,
            "severity": row.severity or None,
            "title": row.title,
            "sentence": row.sentence,
            "outcome": row.outcome or None,
            "deadline": _moment(row.deadline) if row.deadline is not None else None,
            "url": address(row),
            "audit_head": trail.head(),
        },
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def chat(row: Notification) -> str:
    """The body of a chat's incoming webhook. Text that people wrote can neither make a link nor mention somebody."""
    text = f"*{_plain(headline(row))}*\n{_plain(row.sentence)}\n<{address(row)}|Open in {NAME}>"
    return json.dumps({"text": text})


def address(row: Notification) -> str:
    """The page about it, as others reach the desk; for an invitation, the place of its link (`links.put_into`)."""
    if row.subject.startswith(f"{links.SUBJECT}:"):
        return links.PLACE
    return f"{settings.DESK_URL}{row.url}"


def headline(row: Notification) -> str:
    """One line that names what it is about: a title and a reference, never an address or an amount."""
    if row.stage == Stage.ENDED:
        return f"Over: {row.title} {row.reference} ({row.outcome})"
    if row.stage in {Stage.TEST, Stage.NEWS}:
        return row.title
    if row.severity:
        return f"{Severity(row.severity).label}: {row.title} ({row.reference})"
    if row.stage == Stage.OPENED or row.deadline is None:
        return f"{row.title} {row.reference} waits for a decision"
    minutes = max(0, int((row.deadline - row.created_at).total_seconds() // 60))
    return f"{minutes} minutes left: {row.title} {row.reference} waits for a decision"


def _line(text: str) -> str:
    """On one line, with invisible characters shown: text that people wrote can't imitate the desk's own lines."""
    return revealed(" ".join(text.split()))


def _plain(text: str) -> str:
    return _line(text).translate(_CHAT)


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


_BY_MEDIUM: Final = {Medium.EMAIL: mail, Medium.WEBHOOK: webhook, Medium.CHAT: chat}
