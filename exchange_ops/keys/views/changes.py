"""Pages on which admins change keys. Each view makes one domain call; a refusal returns the page without the secret.

An address opened without a form (after signing in again, or by hand) leads to the key's page.
"""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from desk import clock
from desk.people.stepup import CannotConfirm
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.keys import changes, uses
from exchange_ops.keys.changes import CannotChangeKey, Confirmation
from exchange_ops.keys.forms import NewKeyForm, PairForm
from exchange_ops.keys.models import ApiKey
from exchange_ops.keys.store import CannotAddKey
from exchange_ops.keys.views import listing
from exchange_ops.keys.views.listing import KEEPERS_ONLY
from exchange_ops.shared import rules
from exchange_ops.shared.forms import DecisionForm, fresh_key
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import posted, requires

ADDED = "Key added. Checking its permissions with the exchange."
_REFUSALS = (CannotChangeKey, CannotConfirm)


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters()
@sensitive_variables()
@requires(rules.may_keep_keys, KEEPERS_ONLY)
def new(request: DeskRequest) -> HttpResponse:
    """Add a key to an account."""
    choices = accounts.in_view(request)
    initial = {"account": request.GET.get("account", ""), "request_key": fresh_key()}
    form = NewKeyForm(_posted(request), accounts=choices, initial=initial)

    def add(valid: PairForm) -> ApiKey:
        account = get_object_or_404(Account, pk=valid.cleaned_data["account"])
        return changes.add(account=account, pair=valid.pair(), by=_by(request, valid))

    return _stored_pair(request, form, add, purpose=changes.ADD, context={"accounts": choices})


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters()
@sensitive_variables()
@requires(rules.may_keep_keys, KEEPERS_ONLY)
def rotate(request: DeskRequest, key_id: int) -> HttpResponse:
    """First step of a rotation: the successor pair."""
    row = get_object_or_404(ApiKey.objects.select_related("account"), pk=key_id)
    initial = {"label": row.label, "rights": row.rights, "request_key": fresh_key()}
    form = PairForm(_posted(request), initial=initial)

    def succeed(valid: PairForm) -> ApiKey:
        return changes.succeed(key_id=row.pk, pair=valid.pair(), by=_by(request, valid))

    return _stored_pair(request, form, succeed, purpose=changes.SUCCEED, context={"key": row})


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_keep_keys, KEEPERS_ONLY)
def disable(request: DeskRequest, key_id: int) -> HttpResponse:
    """Show what stops without the key, and disable it once that is confirmed."""
    row, form = (
        get_object_or_404(ApiKey.objects.select_related("account"), pk=key_id),
        DecisionForm(_posted(request)),
    )
    if request.method != "POST":
        return _preview(request, row, DecisionForm())
    if not form.is_valid():
        return _preview(request, row, form, status=422)
    try:
        changes.disable(key_id=row.pk, by=_by(request, form))
    except _REFUSALS as problem:
        return _preview(request, row, form, refusal=str(problem), status=409)
    messages.success(request, f"{row}: disabled, secret wiped. Delete the key at the exchange too.")
    return redirect("key", row.pk)


@posted(rules.may_keep_keys, KEEPERS_ONLY)
def switch(request: DeskRequest, key_id: int) -> HttpResponse:
    """Second step of a rotation: the successor takes over."""
    sentence = "Switched to the new key. The old key is kept until you finish the rotation."
    return _take_step(request, key_id, lambda by: changes.switch(key_id=key_id, by=by), sentence)


@posted(rules.may_keep_keys, KEEPERS_ONLY)
def finish(request: DeskRequest, key_id: int) -> HttpResponse:
    """Last step of a rotation: the old key is wiped."""
    sentence = "Rotation finished, old key wiped. Now delete the old key at the exchange."
    return _take_step(request, key_id, lambda by: changes.finish(key_id=key_id, by=by), sentence)


@posted(rules.may_keep_keys, KEEPERS_ONLY)
def go_back(request: DeskRequest, key_id: int) -> HttpResponse:
    """End a rotation without its successor."""
    row = get_object_or_404(ApiKey, pk=key_id)
    session_key = request.session.session_key or ""
    try:
        changes.go_back(key_id=row.pk, person=request.user, session_key=session_key, now=clock.now())
    except CannotChangeKey as problem:
        return listing.key_page(request, row, refusal=str(problem), status=409)
    messages.success(request, f"{row}: rotation cancelled. This key stays in use; the new key is wiped.")
    return redirect("key", row.pk)


def _stored_pair(
    request: DeskRequest,
    form: PairForm,
    store: Callable[[PairForm], ApiKey],
    *,
    purpose: str,
    context: dict[str, Any],
) -> HttpResponse:
    """Show the form of a key pair, or store the pair. The secret has to be typed again each time."""
    status, refusal = 200, ""
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                key = store(form)
            except CannotAddKey as problem:
                form.add_error(problem.field or None, str(problem))
            except _REFUSALS as problem:
                status, refusal = 409, str(problem)
            else:
                draft = f"key-{context['key'].pk}" if "key" in context else "key-new"
                messages.success(request, f"{key}: {ADDED}", extra_tags=draft)
                return redirect("key", key.pk)
    page = {
        "form": form,
        "purpose": purpose,
        "digest": _digest(form, context.get("key")),
        "refusal": refusal,
        **context,
    }
    return show(request, "exchange_ops/key_form.html", page, status=status)


def _posted(request: DeskRequest) -> QueryDict | None:
    """The fields of a POST, even when there are none: an empty form is refused as well."""
    return request.POST if request.method == "POST" else None


def _digest(form: PairForm, replaces: ApiKey | None) -> str:
    """The digest for this form, the same however often it is sent."""
    return changes.new_digest(str(form["request_key"].value()), replaces=replaces)


def _take_step(
    request: DeskRequest, key_id: int, step: Callable[[Confirmation], ApiKey], sentence: str
) -> HttpResponse:
    """One confirmed step of a rotation, on the page of the key that is rotated."""
    row, form = get_object_or_404(ApiKey.objects.select_related("account"), pk=key_id), DecisionForm(request.POST)
    if not form.is_valid():
        return listing.key_page(request, row, form=form, status=422)
    try:
        step(_by(request, form))
    except _REFUSALS as problem:
        row.refresh_from_db()
        return listing.key_page(request, row, form=form, refusal=str(problem), status=409)
    messages.success(request, f"{row}: {sentence}")
    return redirect("key", row.pk)


def _preview(
    request: DeskRequest, row: ApiKey, form: DecisionForm, *, refusal: str = "", status: int = 200
) -> HttpResponse:
    context = {
        "key": row,
        "form": form,
        "losses": uses.losses(row),
        "why_not": changes.why_not_disable(row),
        "purpose": changes.DISABLE,
        "digest": changes.digest_of(changes.DISABLE, row),
        "refusal": refusal,
    }
    return show(request, "exchange_ops/key_disable.html", context, status=status)


def _by(request: DeskRequest, form: DecisionForm) -> Confirmation:
    return Confirmation(
        person=request.user,
        digest=form.cleaned_data["digest"],
        answer=form.answer,
        session_key=request.session.session_key or "",
        now=clock.now(),
    )
