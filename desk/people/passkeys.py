"""Passkeys: their host and origins, which ones a person has, and the check of a signed answer."""

import hashlib
import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import structlog
from allauth.mfa.models import Authenticator
from cryptography.exceptions import UnsupportedAlgorithm
from django.conf import settings
from fido2 import cbor
from fido2.cose import CoseKey
from fido2.server import Fido2Server
from fido2.utils import websafe_decode, websafe_encode
from fido2.webauthn import (
    AttestedCredentialData,
    AuthenticationResponse,
    CollectedClientData,
    PublicKeyCredentialRpEntity,
    UserVerificationRequirement,
)

if TYPE_CHECKING:
    from desk.models import Person

LONGEST_ANSWER = 8000
_log = structlog.get_logger(__name__)


class CannotAccept(Exception):
    """The answer of the passkey does not prove what was asked; the text is for the log."""


class NotVerified(CannotAccept):
    """The device signed without asking its owner for a PIN, a finger or a face."""


class AtAnotherAddress(CannotAccept):
    """The passkey was used at another address than that of DESK_URL."""

    def __str__(self) -> str:
        return f"This passkey was used at another address. Open the desk at {settings.DESK_ORIGIN} and try again."


@dataclass(frozen=True, slots=True)
class Assertion:
    """One checked or still unchecked answer: base64url texts exactly as the browser sent them, and what they mean."""

    credential_id: str
    client_data: str
    authenticator_data: str
    signature: str
    challenge: str
    sign_count: int
    parsed: AuthenticationResponse


def host() -> str | None:
    """The host name that passkeys are bound to: that of DESK_URL. None where browsers allow no passkey.

    Source: Web Authentication, sections 5.1.4.1 and 13.4.9: a numeric address has no relying party, and a page without
    TLS has one at localhost alone.
    """
    name: str = settings.DESK_HOST
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name if name == "localhost" or settings.DESK_ORIGIN.startswith("https://") else None
    return None


def is_our_origin(origin: str) -> bool:
    """Whether a page at this origin may use our passkeys: scheme, host and port are those of DESK_URL."""
    return bool(origin == settings.DESK_ORIGIN)


def require_our_origin(client_data: str | bytes) -> None:
    """Raise AtAnotherAddress where a browser made this answer at another origin; bytes or their base64url text."""
    try:
        content = websafe_decode(client_data) if isinstance(client_data, str) else client_data
        origin = CollectedClientData(content).origin
    except (ValueError, TypeError, KeyError):
        raise CannotAccept("the client data can't be read") from None
    if not is_our_origin(origin):
        raise AtAnotherAddress(f"the origin is {origin[:100]!r}")


def credentials(person: "Person") -> list[AttestedCredentialData]:
    """The passkeys of this person. One that can't be read is left out, so that the others still work."""
    credentials = []
    for row in Authenticator.objects.filter(user=person, type=Authenticator.Type.WEBAUTHN).order_by("pk"):
        try:
            credential = row.wrap().authenticator_data.credential_data
        except Exception as error:  # the row is another library's: whatever is wrong with it, it proves nothing
            _log.warning("passkeys.unreadable", row=row.pk, reason=type(error).__name__)
            continue
        if credential is not None:
            credentials.append(credential)
    return credentials


def keys_of(person: "Person") -> dict[str, str]:
    """The public keys of this person's passkeys by their ids, as texts like those that `check` returns."""
    return {
        websafe_encode(credential.credential_id): websafe_encode(cbor.encode(credential.public_key))
        for credential in credentials(person)
    }


def options(person: "Person", *, challenge: bytes, seconds: int) -> dict[str, Any]:
    """The argument of `navigator.credentials.get`, binary members as base64url text."""
    return {
        "publicKey": {
            "challenge": websafe_encode(challenge),
            "rpId": host(),
            "timeout": seconds * 1000,
            "userVerification": "required",
            "allowCredentials": [
                {"type": "public-key", "id": websafe_encode(credential.credential_id)}
                for credential in credentials(person)
            ],
        }
    }


def read(answer: object) -> Assertion:
    """Parse what `credential.toJSON()` gave, as an object or as JSON text. Raises CannotAccept."""
    content = _as_mapping(answer)
    try:
        parsed = AuthenticationResponse.from_dict(content)
    except Exception as error:  # a parser fed by strangers: whatever it stumbles over, the answer proves nothing
        raise CannotAccept(f"the response can't be read ({type(error).__name__})") from None
    response = parsed.response
    if response.client_data.cross_origin:
        raise CannotAccept("the response came from a frame on another page")
    return Assertion(
        credential_id=websafe_encode(parsed.raw_id),
        client_data=websafe_encode(response.client_data),
        authenticator_data=websafe_encode(response.authenticator_data),
        signature=websafe_encode(response.signature),
        challenge=websafe_encode(response.client_data.challenge),
        sign_count=response.authenticator_data.counter,
        parsed=parsed,
    )


def check(assertion: Assertion, *, person: "Person", challenge: str) -> str:
    """Verify origin, host, challenge, presence, verification of the user, and the signature.

    Raises CannotAccept; AtAnotherAddress and NotVerified say what their person can put right.

    Returns the public key that verified it, as text to be stored: a key may be removed later, the proof stays.
    """
    name = host()
    if name is None:
        raise CannotAccept("no allowed host can carry passkeys")
    server = Fido2Server(PublicKeyCredentialRpEntity(id=name, name="Countersign"), verify_origin=is_our_origin)
    if not assertion.parsed.response.authenticator_data.is_user_verified():
        raise NotVerified("the device did not verify its user")
    require_our_origin(assertion.parsed.response.client_data)
    state = {"challenge": challenge, "user_verification": UserVerificationRequirement.REQUIRED}
    try:
        used = server.authenticate_complete(state, credentials(person), assertion.parsed)
    except (ValueError, TypeError, KeyError, UnsupportedAlgorithm) as error:
        raise CannotAccept(str(error)[:200]) from None
    return websafe_encode(cbor.encode(used.public_key))


def still_proves(*, public_key: str, client_data: str, authenticator_data: str, signature: str) -> bool:
    """Whether a kept signature verifies again with the public key kept beside it."""
    try:
        key = CoseKey.parse(cast("Mapping[int, Any]", cbor.decode(websafe_decode(public_key))))
        signed = websafe_decode(authenticator_data) + hashlib.sha256(websafe_decode(client_data)).digest()
        key.verify(signed, websafe_decode(signature))
    except Exception:  # changed rows can hold anything: whatever can't be verified proves nothing
        return False
    return True


def challenge_of(client_data: str) -> str | None:
    """The challenge that kept client data repeats, or None when they can't be read."""
    try:
        return websafe_encode(CollectedClientData(websafe_decode(client_data)).challenge)
    except (ValueError, TypeError, KeyError):
        return None


def challenge_text(content: bytes) -> str:
    """The base64url text of a challenge, as kept in the database and as the browser repeats it."""
    return websafe_encode(content)


def _as_mapping(answer: object) -> Mapping[str, Any]:
    if isinstance(answer, str):
        if len(answer) > LONGEST_ANSWER:
            raise CannotAccept("the response is too long")
        try:
            answer = json.loads(answer)
        except (ValueError, RecursionError):
            raise CannotAccept("the response is not JSON") from None
    if not isinstance(answer, Mapping) or len(str(answer)) > 2 * LONGEST_ANSWER:
        raise CannotAccept("the response is not an object of the expected size")
    return answer
