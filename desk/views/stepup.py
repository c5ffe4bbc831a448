"""Where a page asks for a passkey challenge before it sends a decision."""

import json
from typing import Any

from django.http import JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST

from desk import clock
from desk.people import stepup
from desk.web.requests import DeskRequest


@never_cache
@require_POST
@sensitive_variables()
def challenge(request: DeskRequest) -> JsonResponse:
    """`{"purpose", "digest"}` in, the argument of `navigator.credentials.get` out; a refusal is `{"problem"}`."""
    members = _text_members(request.body)
    if members is None:
        return JsonResponse({"problem": "Send purpose and digest as JSON text."}, status=400)
    try:
        options = stepup.challenge(
            person=request.user,
            purpose=members["purpose"],
            digest=members["digest"],
            session_key=request.session.session_key or "",
            now=clock.now(),
        )
    except stepup.CannotConfirm as reason:
        return JsonResponse({"problem": str(reason)}, status=409)
    return JsonResponse(options)


def _text_members(body: bytes) -> dict[str, str] | None:
    """The two texts of the body within their bounds, or None."""
    try:
        content: Any = json.loads(body[:2000])
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    members = {}
    for name, longest in (("purpose", 60), ("digest", 64)):
        text = content.get(name)
        if not isinstance(text, str) or not 0 < len(text) <= longest:
            return None
        members[name] = text
    return members
