"""Changing one's own second factors: confirmed with an existing one first, then made on the sign-in library's pages."""

from collections.abc import Callable
from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows.login import record_authentication
from allauth.mfa.base.views import IndexView
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.views import ActivateTOTPView
from django.contrib import messages
from django.contrib.auth import HASH_SESSION_KEY
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from desk import clock, models
from desk.forms import SecondFactorForm
from desk.people import factors, own_sessions, session_keys, stepup
from desk.people.by_role import required_passkeys
from desk.views.rendering import show

View = Callable[..., HttpResponseBase]


class Index(IndexView):  # type: ignore[misc]
    """A person's own page: their factors, and the changes of the last thirty days."""

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        now = clock.now()
        changes = factors.recent_changes(self.request.user, now=now)
        why = required_passkeys.reason(self.request.user)
        return {**super().get_context_data(**context), "now": now, "changes": changes, "passkey_required": why}


@method_decorator(reauthentication_required(app="allauth.mfa"), name="dispatch")
class SetUpApp(ActivateTOTPView):  # type: ignore[misc]
    """Set up an authenticator app, in place of an existing one, which works until the new one has given a code."""

    def dispatch(self, request: HttpRequest, *args: Any, **named: Any) -> HttpResponseBase:
        # Past the library's own, which sends whoever has an app to its removal.
        answer: HttpResponseBase = super(ActivateTOTPView, self).dispatch(request, *args, **named)
        return answer

    def form_valid(self, form: Any) -> HttpResponse:
        Authenticator.objects.filter(user=self.request.user, type=Authenticator.Type.TOTP).delete()
        answer: HttpResponse = super().form_valid(form)
        return answer


def guarded(change: str, view: View) -> View:
    """The library's page for this change, behind the confirmation that it takes, as one transaction."""

    def change_factors(request: Any, **named: Any) -> HttpResponseBase:
        target = str(named.get("pk", ""))
        if request.method != "POST":
            return _obstacle(request, change, target) or view(request, **named)
        with transaction.atomic():
            # One change at a time: two at once could each leave the other's factor as the last one.
            models.Person.objects.select_for_update().get(pk=request.user.pk)
            return _obstacle(request, change, target) or _apply_change(request, view, named)

    return change_factors


@never_cache
@require_http_methods(["GET", "POST"])
@sensitive_post_parameters("code", "passkey")
def confirm(request: Any, change: str, target: int) -> HttpResponse:
    """Ask for an existing factor before one of them changes."""
    if change not in factors.CHANGES or not _exists(request.user, target):
        raise Http404
    named = {"change": change, "target": str(target) if target else ""}
    form = SecondFactorForm(request.POST) if request.method == "POST" else SecondFactorForm()
    if form.is_bound and form.is_valid() and _confirmed(request, form, named):
        return redirect(_page_of(change, target))
    context = {
        "form": form,
        "change": factors.CHANGES[change],
        "purpose": factors.PURPOSE,
        "digest": factors.digest_of(person=request.user, **named),
    }
    return show(request, "account/confirm_change.html", context, status=409 if form.errors else 200)


def _exists(person: models.Person, target: int) -> bool:
    return not target or Authenticator.objects.filter(pk=target, user=person).exists()


def _page_of(change: str, target: int) -> str:
    return reverse(factors.CHANGES[change].url_name, kwargs={"pk": target} if target else None)


def _confirmed(request: Any, form: SecondFactorForm, named: dict[str, str]) -> bool:
    try:
        factors.confirm(
            person=request.user,
            **named,
            digest=request.POST.get("digest", ""),
            answer=form.answer,
            session=request.session,
            now=clock.now(),
        )
    except (factors.CannotChange, stepup.CannotConfirm) as reason:
        form.add_error(None, str(reason))
        return False
    # The library asks for a recent proof as well, and shows recovery codes after one.
    record_authentication(request, request.user, "mfa", reauthenticated=True)
    return True


def _obstacle(request: Any, change: str, target: str) -> HttpResponse | None:
    """A redirect where the change can't be made now: to its confirmation, or back with the reason; else None."""
    person, now = request.user, clock.now()
    change_of = {"person": person, "change": change, "target": target, "session": request.session}
    if factors.asks_first(person, request.session) and not factors.is_confirmed(**change_of, now=now):
        return redirect("factor-confirm", change=change, target=target or 0)
    try:
        factors.refuse_last(person=person, change=change)
    except factors.CannotChange as reason:
        messages.error(request, str(reason))
        return redirect("mfa_index")
    return None


def _apply_change(request: Any, view: View, named: dict[str, Any]) -> HttpResponseBase:
    """Make the change and, in the same transaction, everything that follows from it."""
    person, now = request.user, clock.now()
    before = factors.by_number(person)
    answer = view(request, **named)
    device = own_sessions.device_of(request.headers.get("User-Agent", ""))
    key = request.session.session_key or ""
    if factors.note(person=person, before=before, device=device, session_key=key, now=now):
        request.session.pop(factors.CONFIRMED, None)
        person.refresh_from_db(fields=["session_epoch"])
        request.session[HASH_SESSION_KEY] = person.get_session_auth_hash()
        session_keys.renew(request.session, person=person, now=now)
    return answer
