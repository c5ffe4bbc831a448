"""The second factor for one decision: a passkey that signs exactly what was shown, or a one-time code.

A passkey signs SHA-256 over a nonce, the digest of the content, the purpose and the head of the audit trail. So it
counts for nothing else, and each decision is a witness of the trail. User verification is required; a challenge lives
120 seconds in one session and is used once. A one-time code is used once, for good, also if that was at sign-in.
Recovery codes let a person in after a loss; they never confirm a decision.
"""

import hashlib
import hmac
import secrets
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import structlog
from django.db import IntegrityError, connection, transaction

from desk import clock, models, rooms, sealing
from desk.audit import trail
from desk.people import code_limits, passkeys, session_keys, totp
from desk.people.by_role import required_passkeys
from desk.people.signing import signed_lists

if TYPE_CHECKING:
    from desk.models import Person, StepUp, StepUpChallenge

MAC_CONTEXT = "desk.stepup"
CHALLENGE_SECONDS = 120
# Enough for one busy person, and a limit to what a script can pile up.
MOST_CHALLENGES = 60
CHALLENGE_WINDOW = timedelta(minutes=10)
_log = structlog.get_logger(__name__)


class CannotConfirm(Exception):
    """The second factor was not accepted; the text is one sentence for the person."""


def challenge(*, person: "Person", purpose: str, digest: str, session_key: str, now: datetime) -> dict[str, Any]:
    """The argument of `navigator.credentials.get`, bound to person, session, purpose and digest for 120 seconds.

    Raises CannotConfirm for somebody without a passkey, or after too many challenges in ten minutes.
    """
    _require_shape(purpose=purpose, digest=digest, session_key=session_key)
    if passkeys.host() is None or not passkeys.credentials(person):
        raise CannotConfirm("You have no passkey. Add one under Your second factors, or use a one-time code.")
    mine = models.StepUpChallenge.objects.filter(person=person)
    mine.filter(made_at__lt=now - CHALLENGE_WINDOW).delete()
    if mine.filter(clock.recent("made_at", now - CHALLENGE_WINDOW, now=now)).count() >= MOST_CHALLENGES:
        other = "" if required_passkeys.requiring(person) else ", or use a one-time code"
        raise CannotConfirm(f"Too many passkey requests within ten minutes. Try again later{other}.")
    nonce, head = secrets.token_hex(32), trail.head()
    content = _signed_content(nonce=nonce, digest=digest, purpose=purpose, audit_head=head)
    models.StepUpChallenge.objects.create(
        person=person,
        session_digest=trail.digest_of(session_key),
        purpose=purpose,
        digest=digest,
        nonce=nonce,
        audit_head=head,
        challenge=passkeys.challenge_text(content),
        made_at=now,
    )
    return passkeys.options(person, challenge=content, seconds=CHALLENGE_SECONDS)


def verify(
    *,
    person: "Person",
    purpose: str,
    digest: str,
    answer: Mapping[str, Any],
    session_key: str,
    now: datetime,
    listed: str = "",
    is_first_passkey: bool = False,
) -> "StepUp":
    """Check the answer and store what was signed as a StepUp row, inside the caller's transaction.

    `answer` is {"kind": "totp", "code": "123456"} or {"kind": "passkey", "credential": credential.toJSON()}, the
    credential as an object or as its JSON text; within the desk also `signed_lists.Place.answer`. `listed` is the text
    of a list of decisions, whose digest is then given. Raises CannotConfirm; then the caller rolls back and nothing is
    spent. A code of somebody whose role requires a passkey counts with `is_first_passkey` alone: they add one.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("A decision and its second factor must be stored in one transaction.")
    _require_shape(purpose=purpose, digest=digest, session_key=session_key)
    if listed and digest != signed_lists.digest_of(listed):
        raise ValueError("A list must be confirmed by its own digest.")
    if not person.is_active:
        raise CannotConfirm("This account is deactivated.")
    kind = answer.get("kind") if isinstance(answer, Mapping) else None
    row = models.StepUp(
        person=person,
        purpose=purpose,
        digest=digest,
        session_digest=trail.digest_of(session_key),
        at=now,
        listed=listed or None,
    )
    if kind == models.StepUp.Kind.TOTP:
        if not is_first_passkey and (refusal := required_passkeys.refusal_of_code(person)):
            raise CannotConfirm(refusal)
        _confirm_by_code(row, answer.get("code"), now=now)
    elif kind == models.StepUp.Kind.PASSKEY:
        _confirm_by_passkey(row, answer.get("credential"), now=now)
    elif kind == models.StepUp.Kind.LIST and isinstance(answer.get("place"), signed_lists.Place):
        _confirm_by_list(row, answer["place"])
    else:
        raise CannotConfirm("Confirm with a passkey or a one-time code.")
    _keep(row)
    code_limits.forget(person=person, session_digest=row.session_digest)
    transaction.on_commit(session_keys.note_confirmation)
    return row


class Proofs:
    """What stored second factors prove. The ring, and the passkeys of each person, are read once for many rows."""

    def __init__(self) -> None:
        self._check = sealing.checker(context=MAC_CONTEXT)
        self._keys: dict[int, dict[str, str]] = {}

    def holds(self, row: "StepUp | None", *, person_id: int, purpose: str, digests: Collection[str]) -> bool:
        """Whether the stored row is this person's second factor, for this purpose and one of these digests.

        A row proves nothing by itself: its code must verify under the ring, and a passkey's signature under the key
        stored with it. Where the passkey is still enrolled, that key must be this person's own.
        """
        if row is None or (row.person_id, row.purpose) != (person_id, purpose) or row.digest not in digests:
            return False
        if not is_genuine(row, check=self._check):
            return False
        giver = row.signed_with or row
        return giver.kind != models.StepUp.Kind.PASSKEY or _is_of_own_key(giver, self._keys_of(giver))

    def _keys_of(self, row: "StepUp") -> dict[str, str]:
        if row.person_id not in self._keys:
            self._keys[row.person_id] = passkeys.keys_of(row.person)
        return self._keys[row.person_id]


def proves(row: "StepUp | None", *, person_id: int, purpose: str, digests: Collection[str]) -> bool:
    """`Proofs.holds` for one row."""
    return Proofs().holds(row, person_id=person_id, purpose=purpose, digests=digests)


def _is_of_own_key(row: "StepUp", keys: Mapping[str, str]) -> bool:
    """Whether the row's passkey, where it is still among the person's keys, has the key stored with the row."""
    enrolled = keys.get(row.credential_id)
    return enrolled is None or hmac.compare_digest(enrolled, row.public_key)


def is_genuine(row: "StepUp", *, check: sealing.Check | None = None) -> bool:
    """Whether the desk itself wrote this row: its code verifies, and with a passkey its signature does.

    A place in a list needs a genuine list with this very decision at that place.

    For many rows, pass the `check` of `sealing.checker(context=MAC_CONTEXT)`.
    """
    check = check or sealing.checker(context=MAC_CONTEXT)
    if not check(row.mac, row.content):
        return False
    if row.kind == models.StepUp.Kind.LIST:
        signature = row.signed_with
        is_factor = signature is not None and signature.kind != models.StepUp.Kind.LIST
        return is_factor and signed_lists.holds(row) and is_genuine(signature, check=check)  # type: ignore[arg-type]
    return row.kind != models.StepUp.Kind.PASSKEY or signature_holds(row)


def signature_holds(row: "StepUp") -> bool:
    """Whether the stored signature verifies for the row's content, with the key stored beside it."""
    return is_still_signed(row) and passkeys.still_proves(
        public_key=row.public_key,
        client_data=row.client_data,
        authenticator_data=row.authenticator_data,
        signature=row.signature,
    )


def renew_all(_: rooms.Rewrap) -> int:
    """Put the code of every genuine second factor under the newest ring key; how many rows changed."""
    changed = 0
    for row in models.StepUp.objects.exclude(mac=None).order_by("pk").iterator(chunk_size=500):
        newest = sealing.authenticate(row.content, context=MAC_CONTEXT)
        if row.mac != newest and sealing.is_authentic(row.mac, row.content, context=MAC_CONTEXT):
            changed += models.StepUp.objects.filter(pk=row.pk, mac=row.mac).update(mac=newest)
    return changed


def is_still_signed(row: "StepUp") -> bool:
    """Whether the challenge in the stored client data is the one of the row's own content."""
    expected = _signed_content(nonce=row.nonce, digest=row.digest, purpose=row.purpose, audit_head=row.audit_head)
    text = passkeys.challenge_text(expected)
    return row.challenge == text and passkeys.challenge_of(row.client_data) == text


def _confirm_by_code(row: "StepUp", code: object, *, now: datetime) -> None:
    person = row.person
    code = "".join(code.split()) if isinstance(code, str) else code
    if not totp.is_shaped(code):
        raise CannotConfirm("Enter a six-digit code.")
    wait = code_limits.seconds_to_wait(person=person, session_digest=row.session_digest, now=now)
    if wait:
        raise CannotConfirm(f"Too many incorrect codes. Try again in {wait} seconds, or use a passkey.")
    secret = totp.secret_of(person)
    if secret is None:
        raise CannotConfirm("You have no authenticator app. Set one up under Your second factors.")
    step = totp.matching_step(secret, str(code), now=now)
    if step is None:
        code_limits.note_failure(person=person, session_digest=row.session_digest, now=now)
        _log.warning("stepup.wrong_code", person=person.pk, purpose=row.purpose)
        raise CannotConfirm("Incorrect code. Check your device's clock and enter the current code.")
    if not totp.spend(person, step):
        raise CannotConfirm(_until_the_next_code(totp.usable_from(person), now))
    row.kind, row.totp_step, row.audit_head = models.StepUp.Kind.TOTP, step, trail.head()


def _until_the_next_code(usable_from: datetime, now: datetime) -> str:
    """When the next code counts: within half a minute, unless this machine's clock was set back."""
    if usable_from - now <= timedelta(seconds=60):
        return "This code has already been used. Wait up to 30 seconds for the next one."
    return (
        f"One-time codes are not accepted until {usable_from:%Y-%m-%d %H:%M} UTC, because this desk's clock was set "
        "back. Use a passkey, or ask an administrator to correct the clock."
    )


def _confirm_by_passkey(row: "StepUp", answer: object, *, now: datetime) -> None:
    try:
        assertion = passkeys.read(answer)
        waiting = _waiting_challenge(row, assertion.challenge, now=now)
        row.public_key = passkeys.check(assertion, person=row.person, challenge=waiting.challenge)
        _move_counter(row.person, assertion)
    except passkeys.NotVerified:
        raise CannotConfirm(
            "Your device did not verify you. Decisions require a PIN, fingerprint or face check."
        ) from None
    except passkeys.AtAnotherAddress as reason:
        raise CannotConfirm(str(reason)) from None
    except passkeys.CannotAccept as reason:
        _log.warning("stepup.passkey_refused", person=row.person.pk, purpose=row.purpose, reason=str(reason))
        raise CannotConfirm("This passkey response does not match the page. Start again.") from None
    if not models.StepUpChallenge.objects.filter(pk=waiting.pk, used_at=None).update(used_at=now):
        raise CannotConfirm("This passkey response has already been used. Start again.")
    row.kind = models.StepUp.Kind.PASSKEY
    row.nonce, row.challenge, row.audit_head = waiting.nonce, waiting.challenge, waiting.audit_head
    row.credential_id, row.client_data = assertion.credential_id, assertion.client_data
    row.authenticator_data, row.signature = assertion.authenticator_data, assertion.signature
    row.sign_count = assertion.sign_count


def _confirm_by_list(row: "StepUp", place: signed_lists.Place) -> None:
    row.kind, row.signed_with, row.position = models.StepUp.Kind.LIST, place.signature, place.position
    row.audit_head = place.signature.audit_head
    if not signed_lists.holds(row):
        raise CannotConfirm(
            "The content differs from what you confirmed, or the two-minute limit has passed. Review it again."
        )


def _waiting_challenge(row: "StepUp", text: str, *, now: datetime) -> "StepUpChallenge":
    """The challenge that this answer signs, when it was made for exactly this person, session, purpose and digest."""
    waiting = models.StepUpChallenge.objects.filter(challenge=text, person=row.person).first()
    if waiting is None:
        raise passkeys.CannotAccept("no such challenge")
    same = (waiting.session_digest, waiting.purpose, waiting.digest) == (row.session_digest, row.purpose, row.digest)
    expected = _signed_content(
        nonce=waiting.nonce, digest=row.digest, purpose=row.purpose, audit_head=waiting.audit_head
    )
    if not same or not hmac.compare_digest(passkeys.challenge_text(expected), text):
        raise passkeys.CannotAccept("the challenge was made for something else")
    if waiting.used_at is not None:
        raise CannotConfirm("This passkey response has already been used. Start again.")
    if not waiting.made_at <= now <= waiting.made_at + timedelta(seconds=CHALLENGE_SECONDS):
        raise CannotConfirm("The passkey request expired after two minutes. Start again.")
    return waiting


def _move_counter(person: "Person", assertion: passkeys.Assertion) -> None:
    """Check that the key's counter went up: one that stands still or goes back belongs to a copied key."""
    use, is_new = models.KeyUse.objects.get_or_create(
        credential_id=assertion.credential_id, defaults={"person": person, "sign_count": assertion.sign_count}
    )
    if is_new or (use.sign_count == 0 and assertion.sign_count == 0):
        return
    newer = models.KeyUse.objects.filter(pk=use.pk, person=person, sign_count__lt=assertion.sign_count)
    if not newer.update(sign_count=assertion.sign_count):
        raise passkeys.CannotAccept("the signature counter did not increase")


def _keep(row: "StepUp") -> None:
    row.mac = sealing.authenticate(row.content, context=MAC_CONTEXT)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        raise CannotConfirm("This confirmation has already been used. Start again.") from None


def _signed_content(*, nonce: str, digest: str, purpose: str, audit_head: str) -> bytes:
    return hashlib.sha256(trail.canonical(["desk.stepup", nonce, digest, purpose, audit_head]).encode()).digest()


def _require_shape(*, purpose: str, digest: str, session_key: str) -> None:
    """Mistakes of the calling code, not of the person."""
    if not (0 < len(purpose) <= 60 and 0 < len(digest) <= 64):
        raise ValueError("A purpose can be up to 60 characters and a digest up to 64.")
    if not session_key:
        raise CannotConfirm("A decision requires a signed-in session. An API token can't confirm it.")
