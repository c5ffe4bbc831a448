"""A person's own sessions, and the way to end one of them."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from desk import clock
from desk.people import own_sessions
from desk.views.rendering import show


@require_safe
def sessions(request: HttpRequest) -> HttpResponse:
    """Where this person is signed in."""
    now = clock.now()
    found = own_sessions.of(request.user, session_key=request.session.session_key or "", now=now)  # type: ignore[arg-type]
    return show(request, "account/sessions.html", {"now": now, "sessions": found})


@require_POST
def end(request: HttpRequest) -> HttpResponse:
    """End one of them."""
    ended = own_sessions.end(
        request.user,  # type: ignore[arg-type]
        handle=request.POST.get("session", ""),
        session_key=request.session.session_key or "",
        now=clock.now(),
    )
    if ended:
        messages.success(request, "Ended. Whoever has that page open is signed out within seconds.")
    else:
        messages.info(request, "That session was over already.")
    return redirect("sessions")
