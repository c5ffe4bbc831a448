"""The answers of a mail server that took no message: temporary or final, and about this message or about the server.

A reply of 400 to 499 is temporary and one of 500 to 599 final (section 4.2.1 of RFC 5321). A refused greeting, EHLO,
STARTTLS or AUTH concerns everything that the desk sends, and so do a lost connection and 421, with which a server
leaves.
"""

import smtplib
from dataclasses import dataclass
from typing import Final

_LEAVES: Final = 421
_STEPS: Final = {
    smtplib.SMTPConnectError: "the connection",
    smtplib.SMTPHeloError: "EHLO",
    smtplib.SMTPAuthenticationError: "the sign-in",
    smtplib.SMTPSenderRefused: "the sender",
    smtplib.SMTPDataError: "the message",
}
_OF_MESSAGE: Final = (smtplib.SMTPSenderRefused, smtplib.SMTPDataError)


@dataclass(frozen=True, slots=True)
class MailAnswer:
    """Why a message was not taken. `is_of_server` says that every other message would fail now too."""

    problem: str
    is_final: bool
    is_of_server: bool


def read(error: OSError, *, is_open: bool) -> MailAnswer:
    """What an error of smtplib or of the network means; `is_open` says that the server had accepted the connection."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code = max((code for code, _ in error.recipients.values()), default=0)
        return _of_code(code, "the recipient", is_of_message=True)
    if isinstance(error, smtplib.SMTPResponseException):
        step = _STEPS.get(type(error), "STARTTLS")
        return _of_code(int(error.smtp_code), step, is_of_message=isinstance(error, _OF_MESSAGE))
    if isinstance(error, smtplib.SMTPNotSupportedError):
        problem = "The mail server doesn't support what EMAIL_URL requires (STARTTLS or a password)."
        if is_open:
            problem = "The mail server doesn't support addresses like this one (SMTPUTF8)."
        return MailAnswer(problem, is_final=True, is_of_server=not is_open)
    return MailAnswer(f"No response from the mail server ({type(error).__name__}).", is_final=False, is_of_server=True)


def _of_code(code: int, step: str, *, is_of_message: bool) -> MailAnswer:
    is_final = 500 <= code <= 599
    is_of_server = code == _LEAVES or not is_of_message
    verb = "rejected" if is_final else "temporarily rejected"
    problem = f"The mail server {verb} {step} ({code})."
    if code < 0:  # smtplib's number for a line without one
        problem = f"The mail server did not accept {step}: its response is not valid SMTP."
    if is_final and is_of_server:
        problem += " An administrator should check EMAIL_URL."
    return MailAnswer(problem, is_final=is_final, is_of_server=is_of_server)
