"""Secrets at rest: each one under its own key, that key under a key ring, both bound to where they are stored.

A sealed text is `v1:<ring key id>:<wrapped data key>:<body>`. Both parts are AES-256-GCM with a fresh 96-bit nonce and
the context as associated data, so a text moved to another row, or with one bit turned, does not open. Changing the ring
re-wraps the small data keys and leaves the bodies alone. The ring comes from `KEY_RING` or the file `key-ring` of the
data folder: "id:base64 of 32 bytes", separated by commas or lines, the newest first. The first seals, all of them open.
"""

import base64
import binascii
import hmac
import os
import re
import secrets
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from desk import rooms
from wire.values import Secret

_VERSION = "v1"
_NONCE_BYTES = 12
_KEY_BYTES = 32
_KEY_ID = re.compile(r"[A-Za-z0-9_-]{1,40}", re.ASCII)

Ring = dict[str, bytes]
Check = Callable[[str | None, bytes], bool]


class CannotSeal(Exception):
    """The key ring is missing or can't be read; the sentence never repeats its content."""


class CannotUnseal(Exception):
    """The sealed text can't be opened here: it is of another place, altered, or under a key that the ring lacks."""


def seal(secret: Secret, *, context: str) -> str:
    """Encrypt the secret for the place named by `context`, for example "exchange_ops.apikey:12:secret"."""
    key_id, ring_key = next(iter(_ring().items()))
    data_key = AESGCM.generate_key(bit_length=256)
    body = _encrypt(data_key, secret.reveal().encode(), _body_bound(context))
    wrapped = _encrypt(ring_key, data_key, _key_bound(key_id, context))
    return ":".join([_VERSION, key_id, _text(wrapped), _text(body)])


def unseal(sealed: str, *, context: str) -> Secret:
    """Decrypt what was sealed for this very context; raises CannotUnseal for anything else."""
    key_id, wrapped, body = _parts(sealed)
    data_key = _unwrap(key_id, wrapped, context)
    return Secret(_decrypt(data_key, body, _body_bound(context)).decode())


def rotate(sealed: str, context: str) -> str:
    """The same sealed text with its data key under the newest ring key. It is checked to open before it is changed."""
    key_id, wrapped, body = _parts(sealed)
    newest, ring_key = next(iter(_ring().items()))
    if key_id == newest:
        return sealed
    data_key = _unwrap(key_id, wrapped, context)
    _decrypt(data_key, body, _body_bound(context))
    rewrapped = _encrypt(ring_key, data_key, _key_bound(newest, context))
    return ":".join([_VERSION, newest, _text(rewrapped), _text(body)])


def authenticate(content: bytes, *, context: str) -> str:
    """A code that only a holder of the ring can make: "key id:HMAC-SHA256 in hex", by the newest key.

    `context` names what is authenticated, for example "desk.stepup"; a code of one context counts in no other.
    """
    key_id, ring_key = next(iter(_ring().items()))
    return _code(key_id, ring_key, content, context)


def is_authentic(code: str | None, content: bytes, *, context: str) -> bool:
    """Whether the code was made over exactly this content, for this context, under a key that the ring still has."""
    return checker(context=context)(code, content)


def checker(*, context: str) -> Check:
    """`is_authentic` for many codes of one context: the ring is read once."""
    ring = _ring()

    def check(code: str | None, content: bytes) -> bool:
        key_id = str(code).partition(":")[0]
        ring_key = ring.get(key_id)
        if ring_key is None:
            return False
        return hmac.compare_digest(_code(key_id, ring_key, content, context).encode(), str(code).encode())

    return check


def newest_id() -> str:
    """The id of the newest key of the ring, with which every code begins that is made now."""
    return next(iter(_ring()))


def codes(content: bytes, *, context: str) -> list[str]:
    """The code of this content under every key of the ring, the newest key's first."""
    return [_code(key_id, ring_key, content, context) for key_id, ring_key in _ring().items()]


def rewrap_everything() -> dict[str, int]:
    """Re-wrap every sealed row of every room under the newest ring key; how many changed, by name."""
    return {name: rewrap_all(rotate) for name, rewrap_all in rooms.rewrappers().items()}


def ensure_ring() -> None:
    """Called at every start: in the demo the ring is made on the first one, elsewhere a missing one stops the start."""
    path = Path(settings.KEY_RING_FILE)
    if not settings.KEY_RING and not path.exists():
        if not settings.DEMO:
            raise CannotSeal(
                f"KEY_RING is not set and {path} does not exist. Set KEY_RING to the desk's key ring; a new desk "
                "gets one from `manage.py make_secrets`."
            )
        _make_file(path)
    _ring()


def _make_file(path: Path) -> None:
    """Write a ring of one key, readable by the owner alone; when two processes start at once, one of them wins."""
    descriptor, unfinished = tempfile.mkstemp(dir=path.parent, prefix=".key-ring-")
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(f"demo:{base64.b64encode(secrets.token_bytes(_KEY_BYTES)).decode()}\n")
        os.link(unfinished, path)
    except FileExistsError:
        return
    finally:
        os.unlink(unfinished)


def _ring() -> Ring:
    text = settings.KEY_RING or _file_text(Path(settings.KEY_RING_FILE))
    ring: Ring = {}
    for entry in re.split(r"[,\n]", text):
        if not entry.strip():
            continue
        key_id, _, encoded = entry.strip().partition(":")
        try:
            key = base64.b64decode(encoded, validate=True)
        except binascii.Error:
            key = b""
        if not _KEY_ID.fullmatch(key_id) or len(key) != _KEY_BYTES or key_id in ring:
            raise CannotSeal(
                'The key ring can\'t be read: expected "id:base64 of 32 bytes", each id once, newest first.'
            )
        ring[key_id] = key
    if not ring:
        raise CannotSeal("The key ring is empty.")
    return ring


def _file_text(path: Path) -> str:
    try:
        if path.stat().st_mode & 0o077:
            raise CannotSeal(f"{path} is readable by other users. Restrict it (chmod 600) and rotate its keys.")
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise CannotSeal(f"{path} can't be read ({type(error).__name__}).") from None


def _code(key_id: str, ring_key: bytes, content: bytes, context: str) -> str:
    info = f"desk.sealing.code:{_VERSION}:{key_id}:{context}".encode()
    key = _derived(ring_key, info)
    return f"{key_id}:{hmac.digest(key, content, 'sha256').hex()}"


@lru_cache(maxsize=100)
def _derived(ring_key: bytes, info: bytes) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=_KEY_BYTES, salt=None, info=info).derive(ring_key)


def _unwrap(key_id: str, wrapped: bytes, context: str) -> bytes:
    ring_key = _ring().get(key_id)
    if ring_key is None:
        raise CannotUnseal(f"The key ring does not contain {key_id!r}, the key that encrypted this secret.")
    return _decrypt(ring_key, wrapped, _key_bound(key_id, context))


def _encrypt(key: bytes, content: bytes, bound: bytes) -> bytes:
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, content, bound)


def _decrypt(key: bytes, content: bytes, bound: bytes) -> bytes:
    try:
        return AESGCM(key).decrypt(content[:_NONCE_BYTES], content[_NONCE_BYTES:], bound)
    except (InvalidTag, ValueError):
        raise CannotUnseal("The encrypted text was altered or belongs to a different record.") from None


def _parts(sealed: str) -> tuple[str, bytes, bytes]:
    try:
        version, key_id, wrapped, body = sealed.split(":")
        if version != _VERSION or not _KEY_ID.fullmatch(key_id):
            raise ValueError(version)
        return key_id, _bytes(wrapped), _bytes(body)
    except ValueError:
        raise CannotUnseal("This is not encrypted text.") from None


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode()


def _bytes(text: str) -> bytes:
    content = base64.b64decode(text, altchars=b"-_", validate=True)
    if _text(content) != text:  # one text for one content: spare bits of the last character must be as we wrote them
        raise ValueError("not canonical")
    return content


def _key_bound(key_id: str, context: str) -> bytes:
    return f"desk.sealing.key:{_VERSION}:{key_id}:{context}".encode()


def _body_bound(context: str) -> bytes:
    return f"desk.sealing.body:{_VERSION}:{context}".encode()
