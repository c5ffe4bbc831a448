"""A person's own sessions, and the way to end one of them."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from desk import clock
from desk.people import own_sessions
from desk.personal import formats
from desk.views.rendering import show
from desk.web.requests import DeskRequest


@require_safe
def sessions(request: DeskRequest) -> HttpResponse:
    """Where this person is signed in."""
    now = clock.now()
    rows = own_sessions.sessions(request.user, session_key=request.session.session_key or "", now=now)
    return show(request, "account/sessions.html", {"now": now, "sessions": rows})


@require_POST
def end_session(request: DeskRequest) -> HttpResponse:
    """End one of them."""
    handle, key, now = request.POST.get("session", ""), request.session.session_key or "", clock.now()
    rows = own_sessions.sessions(request.user, session_key=key, now=now)
    row = next((each for each in rows if each.handle == handle), None)
    ended = own_sessions.end_session(request.user, handle=handle, session_key=key, now=now)
    if ended and row is not None:
        since = formats.current().written(row.signed_in_at, "%d %b %H:%M")
        sentence = f"{row.device}, signed in {since}: session ended. Its open pages will be signed out within seconds."
        messages.success(request, sentence)
    else:
        messages.info(request, "This session had already ended.")
    return redirect("sessions")
