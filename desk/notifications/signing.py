"""Signatures of webhooks by the scheme of Standard Webhooks: HMAC-SHA256 over id, time and body.

A receiver compares `webhook-signature` with what it computes from the raw body, refuses a `webhook-timestamp` more than
five minutes away from its own clock, and remembers the ids that it accepted: an equal id is the same message again.
With two secrets there are two signatures, and one of them has to match.
"""

import base64
import hmac
import secrets
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from wire.values import Secret

PREFIX: Final = "whsec_"
TOLERANCE: Final = timedelta(minutes=5)
_SECRET_BYTES: Final = 32


class NotGenuine(ValueError):
    """The message was not signed with the secret, or it is too old."""


def new_secret() -> Secret:
    """A new secret, 256 bits, as receivers' libraries take it."""
    return Secret(PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode())


def headers(uid: str, at: datetime, body: bytes, keys: Iterable[Secret]) -> dict[str, str]:
    """The three headers of one attempt, signed with each of the secrets."""
    stamp = str(int(at.timestamp()))
    signatures = " ".join(f"v1,{_signature(key, uid, stamp, body)}" for key in keys)
    return {"webhook-id": uid, "webhook-timestamp": stamp, "webhook-signature": signatures}


def verify(body: bytes, sent: Mapping[str, str], key: Secret, *, now: datetime) -> str:
    """Check a message as a receiver does; the id of the message. Raises NotGenuine."""
    try:
        uid, stamp, signatures = (sent[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
        at = datetime.fromtimestamp(int(stamp), UTC)
    except (KeyError, ValueError, OverflowError, OSError):
        raise NotGenuine("A signature header is missing or invalid.") from None
    if abs(now - at) > TOLERANCE:
        raise NotGenuine("The timestamp is more than five minutes off.")
    expected = f"v1,{_signature(key, uid, stamp, body)}"
    if not any(hmac.compare_digest(expected.encode(), each.encode()) for each in signatures.split(" ")):
        raise NotGenuine("No valid signature.")
    return uid


def _signature(key: Secret, uid: str, stamp: str, body: bytes) -> str:
    raw = base64.b64decode(key.reveal().removeprefix(PREFIX))
    return base64.b64encode(hmac.digest(raw, f"{uid}.{stamp}.".encode() + body, "sha256")).decode()
