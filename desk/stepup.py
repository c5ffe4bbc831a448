"""The second factor for one decision: a passkey that signs exactly what was seen, or a one-time code."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from desk.models import Person, StepUp


class CannotConfirm(Exception):
    """The second factor was not accepted; the text is one sentence for the person."""


def challenge(*, person: "Person", purpose: str, digest: str, session_key: str, now: datetime) -> dict[str, Any]:
    """Options for `navigator.credentials.get`, bound to this person, session, purpose and digest for 120 seconds."""
    raise CannotConfirm("Passkeys are not available yet.")


def verify(
    *, person: "Person", purpose: str, digest: str, answer: dict[str, Any], session_key: str, now: datetime
) -> "StepUp":
    """Check the answer and keep it as a StepUp row, inside the caller's transaction. Raises CannotConfirm."""
    raise CannotConfirm("Second factors are not available yet.")
