"""Sends one message to a mail server, a webhook or a chat. Nothing is repeated here.

An admin typed the addresses of webhooks, so they must not reach the inside of a network: only https, the name is looked
up once and the connection goes to that address, only public hosts are reached unless the settings name the host, no
redirect is followed, and size and time are bounded (OWASP ASVS 1.3.6).
"""

import smtplib
from dataclasses import dataclass, field
from typing import Any, Final

from django.conf import settings
from django.core.mail import EmailMessage, get_connection

from desk import clock
from desk.notifications import channels, messages, signing
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
    or channel would fail now too.
    """

    problem: str = ""
    is_final: bool = False
    way_is_down: bool = False


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
        if self._mail is not None:
            self._mail.close()

    def _by_mail(self, row: Delivery) -> Outcome:
        assert row.person is not None  # noqa: S101  # by a constraint
        if not row.person.is_active or not row.person.email:
            return Outcome("This person is deactivated or has no e-mail address.", is_final=True)
        if not settings.EMAIL_HOST:
            return Outcome() if settings.MAILBOX else Outcome("No mail server is set up (EMAIL_URL).", is_final=True)
        try:
            if self._mail is None:
                connection = get_connection()
                connection.open()
                self._mail = connection
            self._mail.send_messages([_mail_of(row)])
        except smtplib.SMTPRecipientsRefused:
            return Outcome("The mail server refused the recipient.", is_final=True)
        except (smtplib.SMTPException, OSError) as error:
            self._mail = None
            return Outcome(f"The mail server did not take it ({type(error).__name__}).", way_is_down=True)
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
        return Outcome(f"It was not sent. {reason}", is_final=True)
    body = row.content.encode()
    headers = {"Content-Type": "application/json", "User-Agent": messages.NAME}
    if channel.kind == Medium.WEBHOOK:
        now = clock.now()
        headers |= signing.headers(str(row.notification.uid), now, body, channels.secrets_of(channel, now))
    line = Line(target.origin, private_hosts=settings.WEBHOOK_PRIVATE_HOSTS)
    with line.new_session() as session, Deadline(SECONDS * 10**9) as deadline:
        answer = roundtrip(session.ask, Sending("POST", target.path, headers, body), deadline, most_bytes=MOST_BYTES)
    if isinstance(answer, Lost):
        return Outcome(f"It was not taken: {answer.reason}.", way_is_down=True)
    if answer.status in _TAKEN:
        return Outcome()
    problem = f"The receiver answered {answer.status}."
    if 300 <= answer.status < 400:
        problem = f"The receiver answered {answer.status}, a redirect. The desk follows none."
    return Outcome(problem, way_is_down=answer.status in _PASSING)
