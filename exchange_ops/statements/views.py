"""The statements of the accounts for a period: a page, its files, the journal, and signing them off."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from django import forms
from django.contrib import messages as notes
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from desk import clock, documents
from desk.as_known.moments import MomentForm
from desk.forms import SecondFactorForm
from desk.lists import exports
from desk.people.stepup import CannotConfirm
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.periods import Period, PeriodForm
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import posted, requires
from exchange_ops.statements import as_known as balances
from exchange_ops.statements import files, journal, links, paper, recording, signing, statement
from exchange_ops.statements.bookkeeping import accounts as numbers
from exchange_ops.statements.lines import KINDS
from exchange_ops.statements.models import SignedStatement
from exchange_ops.statements.statement import Statement
from exchange_ops.withdrawals.rules import may_export_evidence_at

FILES: Final = {**exports.KINDS, "pdf": documents.CONTENT_TYPE}
PARTS: Final = {"statements": "exchange_ops/statements/_statements.html"}


class SignForm(SecondFactorForm):
    """A second factor for the figures of one account that were shown."""

    account = forms.IntegerField(widget=forms.HiddenInput)
    digest = forms.RegexField(r"^[0-9a-f]{64}$", widget=forms.HiddenInput)


@require_safe
@requires(rules.may_see)
def page(request: DeskRequest) -> HttpResponse:
    """The statement of each account in view, or what is wrong with the period."""
    return _page(request, PeriodForm(request.GET, now=clock.now()))


@require_safe
@requires(rules.may_see)
def as_known(request: DeskRequest) -> HttpResponse:
    """The balances of each account in view as the desk knew them at a moment; without one, the form for it."""
    form = MomentForm(request.GET, now=clock.now())
    moment = form.moment()
    by_account = [balances.of(account, moment) for account in accounts.in_view(request)] if moment else []
    context = {"form": form, "moment": moment, "known": by_account, "gaps": balances.GAPS}
    status = 422 if form.is_bound and moment is None else 200
    return show(request, "exchange_ops/balances_as_known.html", context, status=status)


@posted(signing.may_sign, "Only treasury can sign statements.")
def sign(request: DeskRequest) -> HttpResponse:
    """Sign the statement of one account, as it was shown."""
    now = clock.now()
    period_form, form = PeriodForm(request.POST, now=now), SignForm(request.POST)
    period = period_form.period()
    if period is None or not form.is_valid():
        return _page(request, period_form, sent=form, status=422)
    number = form.cleaned_data["account"]
    account = next((each for each in accounts.in_view(request) if each.pk == number), None)
    if account is None:
        raise Http404("Account not found.")
    try:
        row = signing.sign(
            account=account,
            period=period,
            person=request.user,
            digest=form.cleaned_data["digest"],
            answer=form.answer,
            session_key=request.session.session_key or "",
            now=now,
        )
    except (signing.CannotSign, CannotConfirm) as problem:
        return _page(request, period_form, sent=form, refusal=str(problem), status=409)
    notes.success(request, f"{row.statement.reference}: your signature is recorded.")
    return redirect(f"{reverse('statements')}?{period.query}#account-{account.pk}")


@require_safe
@requires(rules.may_see)
def signed(request: DeskRequest, signed_id: int) -> HttpResponse:
    """The figures exactly as they were signed, and by whom."""
    row = get_object_or_404(SignedStatement.objects.select_related("account"), pk=signed_id)
    response = HttpResponse(files.signed_as_json(row), content_type=exports.KINDS["json"])
    exports.as_file(response, f"statement_{row.reference}_{row.first}_{row.last}.json")
    return response


def _page(
    request: DeskRequest, form: PeriodForm, *, sent: SignForm | None = None, refusal: str = "", status: int = 200
) -> HttpResponse:
    now, period, mine = clock.now(), form.period(), accounts.in_view(request)
    sent_for = sent.cleaned_data.get("account") if sent else None
    statements = [
        (
            each,
            links.rows(each),
            signing.sign_off(each, person=request.user),
            sent if sent_for == each.account.pk else SignForm(auto_id=f"sign_{each.account.pk}_%s"),
        )
        for each in _statements(request, mine, period, now)
    ]
    context = {
        "now": now,
        "form": form,
        "period": period,
        "problems": form.problems(),
        "kinds": KINDS,
        "accounts": mine,
        "takes_evidence": any(may_export_evidence_at(request.user, each) for each in mine),
        "statements": statements,
        "drawn_for": " ".join(f"{off.digest[:16]}:{len(off.signatures)}" for _, _, off, _ in statements),
        # After a refused signature the page stands at the form's own address, which takes no other reading.
        "here": f"{reverse('statements')}?{period.query}" if sent and period else request.get_full_path(),
        "purpose": signing.PURPOSE,
        "sent_for": sent_for,
        "refusal": refusal,
    }
    return show(request, "exchange_ops/statements.html", context, parts=PARTS, status=status if period else 422)


@require_safe
@requires(rules.may_see)
def export(request: DeskRequest, form: str) -> HttpResponseBase:
    """The same figures as a file; the export is recorded in the audit trail first."""
    if form not in FILES:
        raise Http404("Statements can be exported as PDF, CSV or JSON.")

    def answer(mine: Sequence[Account], period: Period, now: datetime) -> HttpResponseBase:
        rows = _statements(request, mine, period, now)
        if form == "pdf":
            signed_off = [(each, signing.sign_off(each, person=request.user)) for each in rows]
            return HttpResponse(paper.as_pdf(signed_off, period=period, now=now), content_type=FILES[form])
        text = files.as_csv(rows) if form == "csv" else files.as_json(rows, now=now)
        return HttpResponse(text, content_type=FILES[form])

    return _file(request, "statements", form, answer)


@require_safe
@requires(rules.may_see)
def export_journal(request: DeskRequest) -> HttpResponseBase:
    """Every movement of the period in double entry, as CSV; the export is recorded in the audit trail first."""

    def answer(mine: Sequence[Account], period: Period, _: datetime) -> HttpResponseBase:
        names = numbers.current().names
        rows = (row for account in mine for row in journal.rows(account, period, names=names))
        table = exports.streamed_table(journal.COLUMNS, rows)
        return StreamingHttpResponse(table, content_type=exports.KINDS["csv"])

    return _file(request, "journal", "csv", answer)


def _statements(request: DeskRequest, mine: Sequence[Account], period: Period | None, now: datetime) -> list[Statement]:
    if period is None:
        return []
    return [statement.of(account, period, person=request.user, now=now) for account in mine]


def _file(
    request: DeskRequest,
    name: str,
    kind: str,
    answer: Callable[[Sequence[Account], Period, datetime], HttpResponseBase],
) -> HttpResponseBase:
    now = clock.now()
    form = PeriodForm(request.GET, now=now)
    period = form.period()
    if period is None:
        notes.error(request, f"Nothing was exported. {' '.join(form.problems())}")
        return redirect("statements")
    mine = accounts.in_view(request)
    recording.exported(request, name, accounts=mine, period=period, now=now)
    response = answer(mine, period, now)
    exports.as_file(response, f"{name}_{period.first}_{period.last}_{now:%Y%m%dT%H%M%SZ}.{kind}")
    return response
