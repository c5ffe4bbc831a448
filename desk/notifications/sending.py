"""Sends one message to a mail server, a webhook or a chat. Nothing is repeated here.

An admin typed the addresses of webhooks, so they must not reach the inside of a network: only https, the name is looked
up once and the connection goes to that address, only public hosts are reached unless the settings name the host, no
redirect is followed, and size and time are bounded (OWASP ASVS 1.3.6).
"""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final

from django.conf import settings
from django.core.mail import EmailMessage, get_connection

from desk import clock
from desk.notifications import channels, mail_answers, messages, signing
from desk.notifications.models import Delivery, Medium
from desk.sealing import CannotUnseal
from desk.staff import links
from wire.deadline import Deadline
from wire.http_exchange import Line, Lost, roundtrip
from wire.sessions import Sending

SECONDS: Final = 8
MOST_BYTES: Final = 64 * 1024
_TAKEN: Final = range(200, 300)
_PASSING: Final = {408, 425, 429, *range(500, 600)}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one attempt: without a problem it is delivered.

    `is_final` says that another attempt would end the same way, `way_is_down` that everything else by the same medium
    or channel would fail now too. Both together: the server refuses the desk until somebody corrects its settings.
    `retry_after` is the pause that the other side asked for, unbounded.
    """

    problem: str = ""
    is_final: bool = False
    way_is_down: bool = False
    retry_after: timedelta | None = None


@dataclass(slots=True)
class Senders:
    """The connections of one sweep: one to the mail server; what is down is not tried again."""

    down: set[str] = field(default_factory=set)
    _mail: Any = None

    def send(self, row: Delivery) -> Outcome:
        """One attempt."""
        outcome = self._by_mail(row) if row.medium == Medium.EMAIL else _by_post(row)
        if outcome.way_is_down:
            self.down.add(row.way)
        return outcome

    def close(self) -> None:
        """End the connection to the mail server."""
        connection, self._mail = self._mail, None
        if connection is not None:
            with suppress(OSError):
                connection.close()

    def _by_mail(self, row: Delivery) -> Outcome:
        assert row.person is not None  # noqa: S101  # by a constraint
        if not row.person.is_active or not row.person.email:
            return Outcome("This person is deactivated or has no e-mail address.", is_final=True)
        if not settings.EMAIL_HOST:
            return Outcome() if settings.MAILBOX else Outcome("No mail server is set up (EMAIL_URL).", is_final=True)
        is_open = self._mail is not None
        try:
            if not is_open:
                self._mail = get_connection()
                self._mail.open()
                is_open = True
            self._mail.send_messages([_mail_of(row)])
        except OSError as error:  # every smtplib.SMTPException is one
            answer = mail_answers.read(error, is_open=is_open)
            if answer.is_of_server:
                self.close()
            return Outcome(answer.problem, is_final=answer.is_final, way_is_down=answer.is_of_server)
        return Outcome()


def _mail_of(row: Delivery) -> EmailMessage:
    notification = row.notification
    return EmailMessage(
        subject=messages.subject(notification),
        body=links.put_into(row.content, notification),
        to=[row.person.email],  # type: ignore[union-attr]  # by a constraint
        headers={
            "Message-ID": f"<{notification.uid}.{row.pk}@{settings.DESK_HOST}>",
            "Auto-Submitted": "auto-generated",
        },
    )


def _by_post(row: Delivery) -> Outcome:
    channel = row.channel
    assert channel is not None  # noqa: S101  # by a constraint
    if channel.ended_at is not None:
        return Outcome("The channel was removed.", is_final=True)
    try:
        target = channels.address_of(channel)
    except (channels.CannotChange, CannotUnseal) as reason:
        return Outcome(f"Not sent. {reason}", is_final=True)
    body = row.content.encode()
    headers = {"Content-Type": "application/json", "User-Agent": messages.NAME}
    if channel.kind == Medium.WEBHOOK:
        now = clock.now()
        headers |= signing.headers(str(row.notification.uid), now, body, channels.secrets_of(channel, now))
    line = Line(target.origin, private_hosts=settings.WEBHOOK_PRIVATE_HOSTS)
    with line.new_session() as session, Deadline(SECONDS * 10**9) as deadline:
        answer = roundtrip(session.ask, Sending("POST", target.path, headers, body), deadline, most_bytes=MOST_BYTES)
    if isinstance(answer, Lost):
        return Outcome(f"Not delivered: {answer.reason}.", way_is_down=True)
    if answer.status in _TAKEN:
        return Outcome()
    problem = f"The receiver returned {answer.status}."
    if 300 <= answer.status < 400:
        problem = f"The receiver returned {answer.status}, a redirect. Countersign does not follow redirects."
    is_temporary = answer.status in _PASSING
    pause = retry_after(answer.headers.get("Retry-After", ""), clock.now()) if is_temporary else None
    return Outcome(problem, is_final=not is_temporary, way_is_down=is_temporary, retry_after=pause)


def retry_after(text: str, now: datetime) -> timedelta | None:
    """The pause that a Retry-After header asks for, in seconds or as a date (section 10.2.3 of RFC 9110); else None."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return timedelta(seconds=int(text[:9]))
    try:
        return max(parsedate_to_datetime(text) - now, timedelta(0))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
