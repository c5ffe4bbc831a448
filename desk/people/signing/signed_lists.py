"""A list of decisions under one second factor: it is signed whole, and each decision is proven by its place in it.

The digest of a list is SHA-256 over the exact ordered list, each decision with the digest of what its person saw. The
passkey's challenge, or the row of the one-time code, is bound to that digest, so that a list with anything added, left
out, changed or in another order is another list. Each place proves one decision, once, within two minutes of the
signature and in the same session. Source: the desk's own step-up (`stepup`), widened to lists.

An approval on the request's own page is signed in the same way: where its person typed or ticked something beside it,
as a list of this one decision; where they did not, its digest alone says all of it (`Terms`).
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from desk.audit import trail

if TYPE_CHECKING:
    from desk.models import StepUp

PURPOSE: Final = "decide-selection"
KIND: Final = "list"
APPROVE: Final = "approve"
REJECT: Final = "reject"
CONFIRMED: Final = "confirmed"  # the field with the boxes that are ticked with an approval
MOST: Final = 50
PERIOD: Final = timedelta(seconds=120)
_FORM: Final = "desk.signed-list-1"


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision of a list: on `subject` ("withdrawal:12"), with the digest of the content that was shown.

    `purpose` is that of a single decision of this kind, `verdict` is APPROVE or REJECT, `comment` the person's reason.
    `confirmed` are the boxes that the person ticked with it (`signed_fields.as_text`), which a selection never has.
    """

    subject: str
    purpose: str
    digest: str
    verdict: str
    comment: str = ""
    confirmed: str = ""

    @property
    def members(self) -> list[str]:
        """What is signed of it, in this order."""
        own = [self.subject, self.purpose, self.digest, self.verdict, self.comment]
        return [*own, self.confirmed] if self.confirmed else own


@dataclass(frozen=True, slots=True)
class Terms:
    """What a second factor for one decision by itself is given for. `listed` is the text of a list."""

    purpose: str
    digest: str
    listed: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a signed list, counted from zero. The desk alone makes one; no form or program can send it."""

    signature: "StepUp"
    position: int

    @property
    def answer(self) -> dict[str, object]:
        """The second factor of the decision at this place, as `stepup.verify` takes it."""
        return {"kind": KIND, "place": self}


def text_of(decisions: Sequence[Decision]) -> str:
    """The list as it is signed and stored."""
    return trail.canonical([_FORM, [each.members for each in decisions]])


def digest_of(text: str) -> str:
    """SHA-256 in hex over the text of a list."""
    return hashlib.sha256(text.encode()).hexdigest()


def terms_of(decision: Decision) -> Terms:
    """What a person signs for one decision by itself. Blanks count alike, as in `signed_fields.bind`."""
    plain = replace(decision, comment=_plain(decision.comment), confirmed=_plain(decision.confirmed))
    if not plain.comment and not plain.confirmed:
        return Terms(decision.purpose, decision.digest)
    text = text_of([plain])
    return Terms(PURPOSE, digest_of(text), text)


def has_comment(row: "StepUp", comment: str) -> bool:
    """Whether this is the comment that was signed, where the row is a place in a list.

    Any other row signed no comment: that of an approval without one, or of a version before 0.8.0 of the desk.
    """
    if row.signed_with is None:
        return True
    members = _members(row.signed_with.listed or "", row.position)
    return members is not None and _plain(members[4]) == _plain(comment)


def holds(row: "StepUp") -> bool:
    """Whether the list that the row names has exactly the row's approval at the row's place.

    The signature of the list itself is checked by `stepup.is_genuine`.
    """
    signature = row.signed_with
    if signature is None or row.position is None:
        return False
    same_giver = (signature.person_id, signature.session_digest, signature.audit_head) == (
        row.person_id,
        row.session_digest,
        row.audit_head,
    )
    is_list = signature.purpose == PURPOSE and signature.digest == digest_of(signature.listed or "")
    in_time = signature.at <= row.at <= signature.at + PERIOD
    return same_giver and is_list and in_time and _is_at(signature.listed or "", row)


def _is_at(text: str, row: "StepUp") -> bool:
    """Whether the place of the row in this text is an approval for the row's purpose and digest."""
    members = _members(text, row.position)
    return members is not None and bool(members[0]) and members[1:4] == [row.purpose, row.digest, APPROVE]


def _members(text: str, position: int | None) -> list[str] | None:
    """The members of the decision at this place of the text; None where it has none there."""
    try:
        form, decisions = json.loads(text)
        members = list(decisions[position])
    except (ValueError, TypeError, IndexError, KeyError, RecursionError):
        return None
    is_whole = form == _FORM and len(members) in {5, 6} and all(isinstance(each, str) for each in members)
    return members if is_whole else None


def _plain(text: str) -> str:
    return " ".join(text.split())
