"""Where a page asks for a passkey challenge before it sends a decision."""

import json
from typing import Any

from django.http import JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST

from desk import clock
from desk.people import stepup
from desk.people.signing import signed_fields, signed_lists
from desk.people.signing.signed_lists import APPROVE, Decision, Terms
from desk.web.requests import DeskRequest

# Reasons have up to 500 characters, each of them up to twelve bytes in JSON.
_LONGEST_BODY = 10_000
_LONGEST_SUBJECT = 60
_OF_APPROVALS = frozenset({signed_fields.COMMENT, signed_lists.CONFIRMED})


@never_cache
@require_POST
@sensitive_variables()
def challenge(request: DeskRequest) -> JsonResponse:
    """`{"purpose", "digest"}` in, the argument of `navigator.credentials.get` out; a refusal is `{"problem"}`.

    The texts of `fields`, where there are any, are signed together with the digest (`signed_fields`). With a `subject`
    they are the comment of its approval and the boxes ticked with it (`signed_lists.terms_of`).
    """
    content = _content(request.body)
    members, fields = _text_members(content), _fields(content)
    terms = None if members is None or fields is None else _terms(members, fields, content.get("subject", ""))
    if terms is None:
        return JsonResponse({"problem": "Send purpose and digest as JSON strings."}, status=400)
    try:
        options = stepup.challenge(
            person=request.user,
            purpose=terms.purpose,
            digest=terms.digest,
            session_key=request.session.session_key or "",
            now=clock.now(),
        )
    except stepup.CannotConfirm as reason:
        return JsonResponse({"problem": str(reason)}, status=409)
    return JsonResponse(options)


def _content(body: bytes) -> dict[str, Any]:
    """The object of the body; empty where it is none."""
    try:
        content: Any = json.loads(body[:_LONGEST_BODY])
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _text_members(content: dict[str, Any]) -> dict[str, str] | None:
    """The two texts within their bounds, or None."""
    members = {}
    for name, longest in (("purpose", 60), ("digest", 64)):
        text = content.get(name)
        if not isinstance(text, str) or not 0 < len(text) <= longest:
            return None
        members[name] = text
    return members


def _terms(members: dict[str, str], fields: dict[str, str], subject: Any) -> Terms | None:
    """What is signed for the digest and these fields; None for an approval with other fields, or of no subject."""
    if subject == "":
        return Terms(members["purpose"], signed_fields.bind(members["digest"], fields))
    if not isinstance(subject, str) or len(subject) > _LONGEST_SUBJECT or not fields.keys() <= _OF_APPROVALS:
        return None
    comment, confirmed = (fields.get(name, "") for name in (signed_fields.COMMENT, signed_lists.CONFIRMED))
    return signed_lists.terms_of(Decision(subject, **members, verdict=APPROVE, comment=comment, confirmed=confirmed))


def _fields(content: dict[str, Any]) -> dict[str, str] | None:
    """The texts that are signed with the digest, by name; none where there are too many or another kind."""
    fields = content.get("fields", {})
    if not isinstance(fields, dict) or len(fields) > signed_fields.MOST_FIELDS:
        return None
    texts = {name: text for name, text in fields.items() if isinstance(text, str)}
    return texts if len(texts) == len(fields) else None
