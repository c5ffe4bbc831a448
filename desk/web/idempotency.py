"""A request that a program repeats is not carried out again: its answer is stored under the key that it carried.

A key belongs to a person, whichever of their tokens is used, and to one request: method, path, account and body. The
claim on a key is a row of its own, committed first, so that a twin learns that the first is still being answered. The
answer is stored in the same transaction as the draft, so there is either both or neither. A refusal records nothing and
frees the key, so that the same request can be sent again once the reason is gone.

Source: the IETF's draft-ietf-httpapi-idempotency-key-header-07.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID, uuid4

from desk import clock
from desk.web.models import KeyedRequest

if TYPE_CHECKING:
    from desk.models import Person

HEADER: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotency-Replayed"
# Visible characters of ASCII without quote and backslash; around them the quotes of a structured field, or none.
PATTERN: Final = r'^(?:"[!#-\[\]-~]{8,80}"|[!#-\[\]-~]{8,80})$'
KEPT_FOR: Final = timedelta(days=7)
# A longer answer has died: a request of this desk calls nothing outside and waits only for rows.
ANSWERED_WITHIN: Final = timedelta(seconds=60)


class OddKey(ValueError):
    """The header is not a key; the text is the sentence for the person."""


class KeyReused(Exception):
    """The key was used for another request; the text is the sentence for the person."""


class StillAnswering(Exception):
    """The same request is being answered at this moment; the text is the sentence for the person."""

    def __init__(self) -> None:
        super().__init__("The same request is still being processed. Try again in a second.")


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to answer a request, as long as nobody else has taken it over."""

    row_id: int
    token: UUID


@dataclass(frozen=True, slots=True)
class StoredReply:
    """An answer that was given before: HTTP status and body."""

    status: int
    content: str


def read(header: str | None) -> str:
    """The key that a header carries, 8 to 80 characters; empty without a header. Raises `OddKey`."""
    if header is None:
        return ""
    if re.fullmatch(PATTERN, header) is None:
        raise OddKey("Send 8 to 80 visible ASCII characters, with or without double quotes.")
    return header.strip('"')


def fingerprint(*, method: str, path: str, scope: str, body: Any) -> str:
    """The digest of a request. It does not depend on the order of the body's members or the blanks between them."""
    content = (
        json.dumps(body, sort_keys=True, separators=(",", ":")) if isinstance(body, Mapping | list) else repr(body)
    )
    return sha256(f"countersign-request-1|{method}|{scope}|{path}|{content}".encode()).hexdigest()


def begin(*, person: "Person", key: str, fingerprint: str, now: datetime) -> Claim | StoredReply:
    """The right to answer this request, or the answer that it got before.

    Call it outside of a transaction: the claim is for other processes to see. Raises `KeyReused`, `StillAnswering`.
    """
    token = uuid4()
    fresh = {"fingerprint": fingerprint, "claim": token, "began_at": now}
    row, is_new = KeyedRequest.objects.get_or_create(person=person, key=key, defaults=fresh)
    if is_new:
        return Claim(row.pk, token)
    if row.fingerprint != fingerprint:
        raise KeyReused(f"This {HEADER} has already been used for a different request. Use a new one.")
    if row.status is not None:
        return StoredReply(row.status, row.content)
    same_claim = KeyedRequest.objects.filter(pk=row.pk, status=None, claim=row.claim)
    is_over = clock.has_passed(ANSWERED_WITHIN, since=row.began_at, now=now)
    if not is_over or not same_claim.update(claim=token, began_at=now):
        raise StillAnswering
    return Claim(row.pk, token)


def keep(claim: Claim, *, status: int, content: str) -> None:
    """Store the answer, in the transaction of the draft. Raises `StillAnswering` where somebody else took over."""
    rows = KeyedRequest.objects.filter(pk=claim.row_id, claim=claim.token, status=None)
    if not rows.update(status=status, content=content):
        raise StillAnswering


def free(claim: Claim) -> None:
    """Free the key: nothing was recorded under it."""
    KeyedRequest.objects.filter(pk=claim.row_id, claim=claim.token, status=None).delete()
