"""What a passkey signed: authenticator data, client data, and the challenge that the desk made for one decision.

Source: Web Authentication, sections 6.1 and 7.2; RFC 8949 for the public key's form.
"""

import base64
import hashlib
import json
from typing import Any
from urllib.parse import urlsplit

from exchange_ops.evidence.verifier.curve import is_signed
from exchange_ops.evidence.verifier.members import canonical_text

_PRESENT, _VERIFIED = 0x01, 0x04
_SHORTEST_DATA = 37  # bytes: host, flags, counter
_ES256, _EC2, _P256 = -7, 2, 1


class OtherAlgorithm(Exception):
    """The key is not of ES256 on P-256, which alone is checked here; the message names its algorithm."""


def passkey_problem(factor: dict[str, Any]) -> str:
    """Why this stored assertion does not prove its digest and purpose, as a sentence; an empty text if it does.

    Raises OtherAlgorithm for a key that can't be checked here.
    """
    try:
        client_text = _unpadded(factor["client_data"])
        client, data = json.loads(client_text), _unpadded(factor["authenticator_data"])
        key, signature = _public_key(_unpadded(factor["public_key"])), _unpadded(factor["signature"])
        if problem := _content_problem(factor, client, data):
            return problem
    except (KeyError, ValueError, TypeError, AttributeError, IndexError, RecursionError):
        return "the assertion can't be read"
    is_whole = is_signed(key, data + hashlib.sha256(client_text).digest(), signature)
    return "" if is_whole else "the signature does not verify under the public key stored with it"


def _content_problem(factor: dict[str, Any], client: dict[str, Any], data: bytes) -> str:
    """Whether what was signed is this decision, at the desk's own address, by a verified user."""
    content = ["desk.stepup", factor["nonce"], factor["digest"], factor["purpose"], factor["audit_head"]]
    challenge = base64.urlsafe_b64encode(hashlib.sha256(canonical_text(content).encode()).digest()).decode().rstrip("=")
    host = urlsplit(client["origin"]).hostname or ""
    if client["type"] != "webauthn.get" or client.get("crossOrigin"):
        return "the assertion was not made on the desk's own page"
    if not challenge == client["challenge"] == factor["challenge"]:
        return "the challenge that was signed is not that of this digest, purpose and audit head"
    if len(data) < _SHORTEST_DATA or data[:32] != hashlib.sha256(host.encode()).digest():
        return f"the passkey is not bound to {host}"
    if data[32] & (_PRESENT | _VERIFIED) != _PRESENT | _VERIFIED:
        return "the device did not verify its user"
    return ""


def _unpadded(text: str) -> bytes:
    """The bytes of a base64url text without padding, which has one spelling."""
    content = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    if base64.urlsafe_b64encode(content).decode().rstrip("=") != text:
        raise ValueError(text)
    return content


def _public_key(raw: bytes) -> tuple[int, int]:
    content, end = _cbor(raw, 0)
    if end != len(raw) or not isinstance(content, dict):
        raise ValueError("no public key")
    if (content.get(1), content.get(3), content.get(-1)) != (_EC2, _ES256, _P256):
        raise OtherAlgorithm(str(content.get(3)))
    return int.from_bytes(content[-2], "big"), int.from_bytes(content[-3], "big")


def _cbor(raw: bytes, at: int) -> tuple[Any, int]:
    """The value that begins at this byte, and the byte behind it: numbers, texts, bytes and maps of them."""
    kind, size = raw[at] >> 5, raw[at] & 31
    at += 1
    if size >= 24:
        if size > 27:
            raise ValueError("no definite length")
        width = 1 << size - 24
        if at + width > len(raw):
            raise ValueError("cut short")
        size, at = int.from_bytes(raw[at : at + width], "big"), at + width
    if kind in (0, 1):
        return (size if kind == 0 else -1 - size), at
    if kind in (2, 3):
        if at + size > len(raw):
            raise ValueError("cut short")
        part = raw[at : at + size]
        return (part if kind == 2 else part.decode()), at + size
    if kind != 5:
        raise ValueError("not in a public key")
    content: dict[Any, Any] = {}
    for _ in range(size):
        name, at = _cbor(raw, at)
        content[name], at = _cbor(raw, at)
    return content, at
