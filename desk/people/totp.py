"""One-time codes (RFC 6238): which thirty-second step a code belongs to, and using each step once, for good."""

import base64
import binascii
import hashlib
import hmac
import struct
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import transaction

from desk import models, rooms, sealing
from desk.rows import witnessed
from wire.values import Secret

if TYPE_CHECKING:
    from desk.models import Person

STEP_SECONDS = 30
DIGITS = 6
SEAL_CONTEXT = "desk.second-factor"


def secret_of(person: "Person") -> Secret | None:
    """The enrolled secret, or None for somebody without one."""
    row = Authenticator.objects.filter(user=person, type=Authenticator.Type.TOTP).first()
    return sealing.unseal(row.data["secret"], context=SEAL_CONTEXT) if row else None


def enrol(person: "Person", secret: Secret) -> None:
    """Give the person this secret (base32) in place of an earlier one."""
    data = {"secret": sealing.seal(secret, context=SEAL_CONTEXT)}
    Authenticator.objects.update_or_create(user=person, type=Authenticator.Type.TOTP, defaults={"data": data})


def is_shaped(code: object) -> bool:
    """Whether this is six ASCII digits, as every code is."""
    return isinstance(code, str) and len(code) == DIGITS and code.isascii() and code.isdigit()


def code_at(secret: Secret, step: int) -> str:
    """The code of one step. Raises ValueError for a secret that is not base32."""
    try:
        key = base64.b32decode(secret.reveal(), casefold=True)
    except binascii.Error:
        raise ValueError("The secret for one-time codes must be base32 text.") from None
    mac = hmac.new(key, struct.pack(">Q", step), hashlib.sha1).digest()
    offset = mac[-1] & 0x0F
    number = struct.unpack(">I", mac[offset : offset + 4])[0] & 0x7FFFFFFF
    return f"{number % 10**DIGITS:0{DIGITS}}"


def step_at(now: datetime) -> int:
    """The number of the thirty-second step that contains `now`."""
    return int(now.timestamp()) // STEP_SECONDS


def matching_step(secret: Secret, code: str, *, now: datetime) -> int | None:
    """The step this code belongs to: the current one or, for clocks that differ, one before or after it."""
    current = step_at(now)
    matching = None
    for step in range(current - settings.MFA_TOTP_TOLERANCE, current + settings.MFA_TOTP_TOLERANCE + 1):
        # Every candidate is compared, so that the time taken reveals nothing.
        if hmac.compare_digest(code_at(secret, step), code):
            matching = step
    return matching


def spend(person: "Person", step: int) -> bool:
    """Use a step; False where it or a later one was used before. One conditional update decides."""
    models.SpentTotpStep.objects.get_or_create(person=person, defaults={"step": 0})
    return models.SpentTotpStep.objects.filter(person=person, step__lt=step).update(step=step) == 1


def usable_from(person: "Person") -> datetime:
    """The moment from which a code of this person can be used again: after the newest step that was."""
    newest = models.SpentTotpStep.objects.filter(person=person).values_list("step", flat=True).first()
    return datetime.fromtimestamp(((newest or 0) + 1) * STEP_SECONDS, UTC)


def rewrap_all(rotate: rooms.Rewrap) -> int:
    """Put the sealed parts of every second factor under the newest ring key; how many rows changed."""
    changed = 0
    for row in Authenticator.objects.exclude(type=Authenticator.Type.WEBAUTHN).iterator():
        data = {
            name: rotate(text, SEAL_CONTEXT) if name in {"secret", "seed"} else text for name, text in row.data.items()
        }
        if data != row.data:
            with transaction.atomic():
                changed += Authenticator.objects.filter(pk=row.pk, data=row.data).update(data=data)
                witnessed.note(Authenticator, [row.pk])
    return changed
