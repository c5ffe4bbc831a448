"""A restore: what waits to be sent, and the verdicts of two people on it."""

from typing import Any, cast

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from desk import clock
from desk.forms import SecondFactorForm
from desk.models import Person
from desk.people import roles
from desk.people.stepup import CannotConfirm
from desk.restores import settling, states, waiting
from desk.restores.models import LONGEST_COMMENT, Restore
from desk.views.rendering import show

PREFIX = "verdict:"
_SETTLED = "restore completed. Cancelled requests are closed, the others continue, and sending has resumed."
_RECORDED = "decisions recorded. Nothing is sent until another treasurer makes the same decisions."


class WordForm(SecondFactorForm):
    """What was compared, and a second factor for exactly these verdicts."""

    digest = forms.RegexField(r"^[0-9a-f]{64}$", widget=forms.HiddenInput)
    comment = forms.CharField(
        label="What did you check?",
        help_text="For example: the exchange's website, statements, colleagues you asked. Recorded in the audit trail.",
        max_length=LONGEST_COMMENT,
        widget=forms.Textarea(attrs={"rows": 2}),
    )


@require_http_methods(["GET", "HEAD", "POST"])
def restore(request: HttpRequest, restore_id: int) -> HttpResponse:
    """The page. Verdicts are reviewed first, then confirmed."""
    if not cast(Person, request.user).has_role(*roles.ALL, scope=""):
        raise PermissionDenied("Only people with access to all accounts can view restores.")
    row = Restore.objects.filter(pk=restore_id).first()
    if row is None:
        raise Http404("Restore not found.")
    if request.method != "POST":
        return _page(request, row, {})
    if not settling.may_settle(cast(Person, request.user)):
        raise PermissionDenied("Only treasurers with access to all accounts can decide on requests after a restore.")
    sent = {name.removeprefix(PREFIX): text for name, text in request.POST.items() if name.startswith(PREFIX)}
    verdicts = {subject: str(text) for subject, text in sent.items() if text in waiting.VERDICTS}
    if "digest" not in request.POST:
        return _review(request, row, verdicts)
    form = WordForm(request.POST)
    return (
        _confirmed(request, row, verdicts, form) if form.is_valid() else _page(request, row, verdicts, form, status=422)
    )


def _confirmed(request: HttpRequest, row: Restore, verdicts: dict[str, str], form: WordForm) -> HttpResponse:
    try:
        after = settling.give_word(
            restore_id=row.pk,
            person=cast(Person, request.user),
            verdicts=verdicts,
            comment=form.cleaned_data["comment"],
            digest=form.cleaned_data["digest"],
            answer=form.answer,
            session_key=request.session.session_key or "",
            now=clock.now(),
        )
    except (settling.CannotSettle, CannotConfirm) as problem:
        return _page(request, row, verdicts, form, refusal=str(problem), status=409)
    messages.success(request, f"{row.reference}: {_SETTLED if after.state == states.SETTLED else _RECORDED}")
    return redirect("restore", row.pk)


def _review(request: HttpRequest, row: Restore, verdicts: dict[str, str]) -> HttpResponse:
    if refusal := settling.problem(row, settling.items(row), verdicts, cast(Person, request.user)):
        return _page(request, row, verdicts, refusal=refusal, status=422)
    return _page(request, row, verdicts, WordForm())


def _page(
    request: HttpRequest,
    row: Restore,
    verdicts: dict[str, str],
    form: WordForm | None = None,
    *,
    refusal: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {
        "now": clock.now(),
        "row": row,
        "words": settling.words(row),
        "form": form,
        "purpose": settling.PURPOSE,
        "refusal": refusal,
        **(_open(row, verdicts, cast(Person, request.user), is_review=form is not None) if row.is_open else {}),
    }
    return show(request, "desk/restore.html", context, parts={"restore": "desk/restore/_restore.html"}, status=status)


def _open(row: Restore, verdicts: dict[str, str], person: Person, *, is_review: bool) -> dict[str, Any]:
    """What only an open restore shows: every item with its verdicts, and what outside systems show."""
    items, words = settling.items(row), settling.words(row)
    return {
        "is_open": True,
        "lines": [
            {
                "item": item,
                "name": f"{PREFIX}{item.subject}",
                "verdict": verdicts.get(item.subject, ""),
                "words": [
                    (word.person, waiting.VERDICTS[word.verdicts[item.subject]])
                    for word in words
                    if item.subject in word.verdicts
                ],
            }
            for item in items
        ],
        "verdicts": [(name, label, waiting.EFFECTS[name]) for name, label in waiting.VERDICTS.items()],
        "outside": waiting.outside(row.as_of or row.created_at),
        "unread": waiting.not_read_yet(row.notice.at),
        "may_settle": settling.may_settle(person),
        "digest": settling.digest_of(row, items, verdicts) if is_review else "",
    }
