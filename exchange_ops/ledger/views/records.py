"""Two records of the exchange for one index, side by side, and the choice of the one that holds."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_safe

from desk import clock
from desk.people.stepup import CannotConfirm
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.ledger import settling
from exchange_ops.ledger.models import LedgerAside, RecordChoice
from exchange_ops.shared import rules
from exchange_ops.shared.forms import LONGEST_REASON, DecisionForm
from exchange_ops.shared.views.access import posted, requires


class RecordChoiceForm(DecisionForm):
    """Which of the two records holds, and why."""

    holds = forms.ChoiceField(
        label="Valid record",
        choices=[
            ("", "Choose"),
            (RecordChoice.Record.FIRST, "First record"),
            (RecordChoice.Record.SECOND, "Excluded record"),
        ],
        error_messages={"required": "Choose the valid record."},
    )
    comment = forms.CharField(
        label="Reason",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "Enter what you checked and why this record is valid."},
    )


@require_safe
@requires(rules.may_see)
def record(request: DeskRequest, aside_id: int) -> HttpResponse:
    """Both records, who has chosen what, and the form for whoever may choose."""
    return _render(request, aside_id)


@posted(rules.may_see)
def choose(request: DeskRequest, aside_id: int) -> HttpResponse:
    """One person's choice; the same one of a second person settles it."""
    form = RecordChoiceForm(request.POST)
    if not form.is_valid():
        return _render(request, aside_id, form=form, status=422)
    try:
        row = settling.choose(
            aside_id=aside_id,
            person=request.user,
            holds=form.cleaned_data["holds"],
            reason=form.cleaned_data["comment"],
            digest=form.cleaned_data["digest"],
            answer=form.answer,
            session_key=request.session.session_key or "",
            now=clock.now(),
        )
    except (settling.CannotSettle, CannotConfirm) as problem:
        refusal = f"Choice not recorded. {problem}" if isinstance(problem, CannotConfirm) else str(problem)
        return _render(request, aside_id, form=form, refusal=refusal, status=409)
    done = (
        "Choice confirmed by two treasurers. Both records are kept."
        if row.settled_as
        else "Choice recorded. A second treasurer must make the same choice."
    )
    messages.success(request, f"Record {row.exchange_id}, index {row.index}: {done}")
    return redirect("ledger-record", row.pk)


def _render(request: DeskRequest, aside_id: int, *, status: int = 200, **changes: Any) -> HttpResponse:
    row = get_object_or_404(LedgerAside.objects.select_related("account").exclude(index=None), pk=aside_id)
    rival = settling.rival_of(row)
    choices = list(row.choices.select_related("person").order_by("pk"))
    may_choose = rival is not None and settling.may_choose(request.user, row)
    has_chosen = request.user.pk in {choice.person_id for choice in choices}
    context: dict[str, Any] = {
        "row": row,
        "rival": rival,
        "lines": _lines(settling.pair_of(row)),
        "unlisted": settling.is_unlisted(row),
        "choices": choices,
        "may_choose": may_choose and not has_chosen,
        "waits_for_another": may_choose and has_chosen,
        "form": RecordChoiceForm(),
        "digest": settling.digest_of(row),
        "purpose": settling.PURPOSE,
        "now": clock.now(),
    }
    return show(request, "exchange_ops/ledger_record.html", context | changes, status=status)


def _lines(pair: settling.Pair | None) -> list[tuple[str, Any, Any, bool]]:
    """Each member of the two records, those that differ first; none where they can't be compared."""
    if pair is None:
        return []
    names = sorted(pair.first.keys() | pair.second.keys(), key=lambda name: (name not in pair.differing, name))
    return [(name, pair.first.get(name, ""), pair.second.get(name, ""), name in pair.differing) for name in names]
