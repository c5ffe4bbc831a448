"""Requesting a transfer: one form for each kind, and the part that says what is available and what would remain."""

from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest, prefilled, prefilled_number
from exchange_ops.market import currencies, valuation
from exchange_ops.market.models import Currency
from exchange_ops.policy import freezes
from exchange_ops.shared import rules
from exchange_ops.shared.forms import fresh_key, read_amount
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import posted, requires
from exchange_ops.subaccounts import account_status
from exchange_ops.subaccounts.models import SubAccount
from exchange_ops.transfers import identifiers, policy_evaluation, request_checks, states, workflow
from exchange_ops.transfers import rules as transfer_rules
from exchange_ops.transfers.forms import SLUGS, NewTransferForm
from exchange_ops.transfers.models import Transfer

ONLY_OPERATORS = "Only operators can request transfers. You can view every transfer in the list."
TABS = {
    "move": ("Bank and trading", "Transfer between bank and trading accounts"),
    "convert": ("Convert", "Convert to another network"),
    "to-subaccount": ("To a sub-account", "Transfer to a sub-account"),
    "from-subaccount": ("From a sub-account", "Transfer from a sub-account"),
    "to-user": ("To another user", "Transfer to another user of the exchange"),
}
_NUMBER_MOST = 18  # digits of a sub-account's number


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_request, ONLY_OPERATORS)
def new(request: DeskRequest, kind: str) -> HttpResponse:
    """The form; sent, it becomes one transfer however often it is sent."""
    form, others = _form(request, kind)
    if request.method != "POST" or not form.is_valid():
        return _render_form(request, form, others, status=422 if request.method == "POST" else 200)
    session_key, now = request.session.session_key or "", clock.now()
    try:
        row = workflow.request(
            initiator=request.user,
            account=accounts.required(request),
            now=now,
            session_key=session_key,
            **form.arguments(),
        )
    except workflow.CannotTransfer as problem:
        form.refuse(problem.problems)
        return _render_form(request, form, others, status=422)
    messages.success(request, f"{row.reference} requested. {row.sentence}", extra_tags=f"new-transfer-{kind}")
    return redirect("transfer", row.pk)


@posted(rules.may_request, ONLY_OPERATORS)
def figures(request: DeskRequest, kind: str) -> HttpResponse:
    """What is available, what would remain and who has to approve, for what was typed so far."""
    if kind not in SLUGS:
        raise Http404("Unknown transfer type.")
    currency = currencies.currency(request.POST.get("currency", ""))
    context: dict[str, Any] = {"now": clock.now(), "currency": currency, "slug": kind}
    if currency is not None:
        context |= _figures(request, _unsaved(request, kind, accounts.required(request), currency), currency)
    return show(request, "exchange_ops/transfers/_figures.html", context)


def _form(request: DeskRequest, slug: str) -> tuple[NewTransferForm, list[dict[str, str]]]:
    if slug not in SLUGS:
        raise Http404("Unknown transfer type.")
    usable, others = _currencies(SLUGS[slug][0])
    options: dict[str, Any] = {"slug": slug, "currencies": usable, "subaccounts": _subaccounts(request, slug)}
    if request.method == "POST":
        return NewTransferForm(request.POST, **options), others
    again = _repeated(request, slug)
    initial: dict[str, Any] = {"request_key": fresh_key()}
    initial |= prefilled(request, "currency", "kind", "subaccount_id", longest=40)
    form = NewTransferForm(initial=initial | (NewTransferForm.repeating(again) if again else {}), **options)
    form.original = again
    return form, others


def _repeated(request: DeskRequest, slug: str) -> Transfer | None:
    """The ended transfer of this account and kind that a link asks for once more, if there is one."""
    if (number := prefilled_number(request, "again")) is None:
        return None
    rows = Transfer.objects.filter(account=accounts.current(request), kind__in=SLUGS[slug])
    row = rows.filter(pk=number).first()
    return row if row is not None and transfer_rules.may_repeat(request.user, row) else None


def _render_form(
    request: DeskRequest, form: NewTransferForm, others: list[dict[str, str]], *, status: int = 200
) -> HttpResponse:
    context = {
        "form": form,
        "slug": form.slug,
        "title": TABS[form.slug][1],
        "tabs": [{"slug": slug, "label": label} for slug, (label, _) in TABS.items()],
        "others": others,
        "leaves": SLUGS[form.slug][0] in states.LEAVING_KINDS,
        "frozen": freezes.active_at(accounts.current(request)),
        "now": clock.now(),
    }
    return show(request, "exchange_ops/new_transfer.html", context, status=status)


def _currencies(kind: str) -> tuple[list[Currency], list[dict[str, str]]]:
    """The currencies that can be moved in this way now, and why the others can't; converting needs a second network."""
    rows = list(Currency.objects.order_by("code"))
    if kind == states.CONVERT:
        coins = [valuation.plain_code(row.code) for row in rows]
        rows = [row for row in rows if coins.count(valuation.plain_code(row.code)) > 1]
    problems = {row.code: request_checks.currency_problem(kind, row) for row in rows}
    others = [{"code": code, "why": why} for code, why in problems.items() if why]
    return [row for row in rows if not problems[row.code]], others


def _subaccounts(request: DeskRequest, slug: str) -> list[SubAccount]:
    """The sub-accounts that money can be moved to or from now."""
    account = accounts.current(request)
    if account is None or SLUGS[slug][0] not in states.SUBACCOUNT_KINDS:
        return []
    rows = SubAccount.objects.filter(account=account).order_by("exchange_id")
    return [row for row in rows if not account_status.subaccount_problem(account, row.exchange_id)]


def _unsaved(request: DeskRequest, slug: str, account: Account, currency: Currency) -> Transfer:
    """The unsaved transfer that the form would request; what is missing or invalid stays empty."""
    posted = request.POST
    kind, number = posted.get("kind", ""), posted.get("subaccount_id", "")
    row = Transfer(initiator=request.user, account=account, currency=currency.code)
    row.kind = kind if kind in SLUGS[slug] else SLUGS[slug][0]
    row.by, row.identifier = posted.get("by", "")[:10], posted.get("identifier", "")[:254].strip()
    target = currencies.currency(posted.get("to_currency", ""))
    row.to_currency = target.code if target is not None else ""
    is_number = number.isascii() and number.isdigit() and len(number) <= _NUMBER_MOST
    row.subaccount_id = int(number) if is_number else None
    return row


def _figures(request: DeskRequest, row: Transfer, currency: Currency) -> dict[str, Any]:
    text = request.POST.get("amount", "")[:80].strip()
    context: dict[str, Any] = {"kind": row.kind, "giving": request_checks.giving_wallet(row)}
    if not text:
        return context
    try:
        row.amount = read_amount(text)
    except forms.ValidationError as problem:
        return context | {"problem": problem.messages[0]}
    context |= {"amount": row.amount, "problem": request_checks.amount_problem(row, currency)}
    if context["giving"] is not None:
        remaining: Decimal = context["giving"][0] - row.amount
        context["remaining"] = remaining if remaining >= 0 else None
    return context | _evaluation(row)


def _evaluation(row: Transfer) -> dict[str, Any]:
    """What the rules say of what was typed so far; an invalid name is not compared with known ones."""
    if row.leaves and identifiers.problem(by=row.by, identifier=row.identifier):
        return {"waits": "Enter the other user to see how many approvals are required."}
    blocked, columns = policy_evaluation.evaluate(row, now=clock.now())
    return {"blocked": blocked, **columns}
