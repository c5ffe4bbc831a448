"""The texts of notifications: the same facts as a mail, as the body of a webhook and as a line in a chat.

No message approves anything, and none carries a secret. The text has the amount and a short form of the recipient; a
subject line has a reference and a title, never an address or an amount, because locked screens show it.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings

from desk.actions.entries import in_words
from desk.audit import trail
from desk.incidents.kinds import Severity
from desk.invisible import revealed
from desk.notifications import facts
from desk.notifications.models import Medium, Notification, Stage
from desk.personal import formats
from desk.staff import links

if TYPE_CHECKING:
    from desk.models import Person

NAME: Final = "Countersign"
APPROVALS: Final = "approvals"
LONGEST_SUBJECT: Final = 120
_CHAT: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def subject(row: Notification) -> str:
    """The subject line of a mail: one line, without characters that reverse the direction of text."""
    text = _line(f"[{NAME}] {headline(row)}")
    return text if len(text) <= LONGEST_SUBJECT else f"{text[: LONGEST_SUBJECT - 1]}…"


def content(row: Notification, medium: str, reader: "Person | None" = None) -> str:
    """The text for a medium; moments are in the zone of `reader`, in UTC where it goes to a channel."""
    return _BY_MEDIUM[Medium(medium)](row, reader)


def mail(row: Notification, reader: "Person | None" = None) -> str:
    """The text of a mail."""
    lines = [_line(full_headline(row)), "", _line(row.sentence)]
    if deadline := deadline_line(row, reader):
        lines += ["", deadline]
    if words := fingerprint_line(row):
        lines += ["", words]
    lines += ["", f"Open: {address(row)}"]
    if row.stage not in {Stage.ENDED, Stage.NEWS}:
        lines += ["", "Decide on that page with your second factor. Links never approve anything."]
    return "\n".join([*lines, "", *footer()])


def digest(rows: Sequence[Notification], reader: "Person") -> str:
    """The text of one mail about several notifications."""
    lines = [f"{len(rows)} updates", ""]
    for row in rows:
        lines += [
            f"- {_line(full_headline(row))}",
            *filter(None, [deadline_line(row, reader), fingerprint_line(row)]),
            f"  {address(row)}",
            "",
        ]
    return "\n".join(
        [
            *lines,
            "Approve or reject on these pages, using your second factor. Links never approve anything.",
            "",
            *footer(),
        ]
    )


def footer() -> list[str]:
    """The last lines of every mail."""
    return [
        "--",
        f"{NAME}. Audit trail head when sent: {trail.head()[:16]}.",
        f"Notification settings: {settings.DESK_URL}/account/notifications/",
    ]


def deadline_line(row: Notification, reader: "Person | None" = None) -> str:
    """Until when somebody has to decide, and what happens otherwise; empty where there is no deadline."""
    if row.deadline is None or row.stage == Stage.ENDED:
        return ""
    at = formats.for_settings(getattr(reader, "personal", None)).written(row.deadline, "%H:%M")
    lapse = row.facts.get("if_nobody_acts") or "the request expires"
    return _line(f"If nobody decides by {at}, {lapse}.")


def fingerprint_line(row: Notification) -> str:
    """The four words that the page has to show as well; empty where nothing waits for a decision on a digest."""
    words = row.facts.get("fingerprint", "")
    if not words or row.stage in {Stage.ENDED, Stage.NEWS}:
        return ""
    return _line(f"Fingerprint: {words}. If the page shows other words, the request has changed since this message.")


def webhook(row: Notification, reader: "Person | None" = None) -> str:
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
            "facts": row.facts,
            "deadline": _moment(row.deadline) if row.deadline is not None else None,
            "url": address(row),
            "audit_head": trail.head(),
        },
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def chat(row: Notification, reader: "Person | None" = None) -> str:
    """The body of a chat's incoming webhook. Text that people wrote can neither make a link nor mention somebody."""
    parts = (row.sentence, deadline_line(row, reader), fingerprint_line(row))
    sentences = " ".join(part for part in parts if part)
    text = f"*{_plain(full_headline(row))}*\n{_plain(sentences)}\n<{address(row)}|Open in {NAME}>"
    return json.dumps({"text": text})


def address(row: Notification) -> str:
    """The page about it, as others reach the desk; for an invitation, the place of its link (`links.put_into`)."""
    if row.subject.startswith(f"{links.SUBJECT}:"):
        return links.PLACE
    return f"{settings.DESK_URL}{row.url}"


def headline(row: Notification) -> str:
    """One line that names what it is about: a title and a reference, never an address or an amount."""
    if row.stage in {Stage.TEST, Stage.NEWS}:
        return row.title
    if row.severity:
        title = f"{row.title} ({row.reference})"
        return f"Resolved: {title}" if row.stage == Stage.ENDED else f"{Severity(row.severity).label}: {title}"
    if row.stage == Stage.ENDED:
        outcome = in_words(row.outcome)
        return f"{outcome[:1].upper()}{outcome[1:]}: {row.reference}"
    return f"{_time_left(row)}{_asks(row)} ({row.reference})"


def full_headline(row: Notification) -> str:
    """The same with the amount, its value, a short form of the recipient and who asked, where there are any."""
    line = facts.line(row.facts)
    if row.severity or not line or row.stage in {Stage.TEST, Stage.NEWS}:
        return headline(row)
    if row.stage == Stage.ENDED:
        money = facts.money(row.facts) or line
        return f"{headline(row)}, {money}"
    return f"{_time_left(row)}Approve: {line} ({row.reference})"


def _asks(row: Notification) -> str:
    return f"Approve: {row.title.lower()}" if row.kind == APPROVALS else row.title


def _time_left(row: Notification) -> str:
    if row.stage == Stage.OPENED or row.deadline is None:
        return ""
    minutes = max(0, int((row.deadline - row.created_at).total_seconds() // 60))
    return f"{minutes} minutes left. "


def _line(text: str) -> str:
    """On one line, with invisible characters shown: text that people wrote can't imitate the desk's own lines."""
    return revealed(" ".join(text.split()))


def _plain(text: str) -> str:
    return _line(text).translate(_CHAT)


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


_BY_MEDIUM: Final = {Medium.EMAIL: mail, Medium.WEBHOOK: webhook, Medium.CHAT: chat}
