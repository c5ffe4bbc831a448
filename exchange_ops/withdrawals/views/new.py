"""Requesting a payout: the form, and the two parts that fill in while somebody types. All arithmetic happens here."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest, prefilled, prefilled_number
from exchange_ops.addresses import checks, destinations
from exchange_ops.addresses.destinations import Destination
from exchange_ops.keys import status as key_status
from exchange_ops.ledger.models import Balance
from exchange_ops.market import currencies
from exchange_ops.market.models import Currency
from exchange_ops.payees.models import Payee
from exchange_ops.policy import freezes
from exchange_ops.shared import rules
from exchange_ops.shared.forms import read_amount
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import posted, requires
from exchange_ops.wire.payment_requests import CannotRead
from exchange_ops.withdrawals import equal_payments, request_checks, workflow
from exchange_ops.withdrawals import rules as withdrawal_rules
from exchange_ops.withdrawals.decisions import fee_limits, policy_evaluation
from exchange_ops.withdrawals.decisions.intent import Intent
from exchange_ops.withdrawals.forms import LONGEST_TYPED, NewWithdrawalForm, SplitRequest, split_request
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.recipients import briefing
from exchange_ops.withdrawals.recipients.briefing import Subject
from exchange_ops.withdrawals.recipients.history import Place
from exchange_ops.withdrawals.templates import book
from exchange_ops.withdrawals.templates.models import PayoutTemplate
from exchange_ops.withdrawals.views import payee_picker

REQUESTED = "requested. Nothing has been sent yet: the address and the network fee are being checked."
ONLY_OPERATORS = "Only operators can request payouts. You can view every request in the list."


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_request, ONLY_OPERATORS)
def new(request: DeskRequest) -> HttpResponse:
    """The form; sent, it becomes one request however often it is sent.

    A payment request in the address field is split into the fields first, and nothing is requested.
    """
    payable, others = _currencies()
    if request.method != "POST":
        source = _repeated(request) or _template(request)
        fields = _prefilled(request) if source is None else NewWithdrawalForm.repeating(source)
        return _render_form(request, payee_picker.unsent(request, fields, payable), others, source=source)
    if payee_picker.FILL in request.POST:
        form = payee_picker.filled_in(request, payable)
        return _render_form(request, form, others, filled=form.payees.get(str(form["payee"].value())))
    if (split := _split(request)) is not None:
        return _render_form(request, payee_picker.unsent(request, split.fields, payable), others, split=split)
    form = NewWithdrawalForm(request.POST, request.FILES, currencies=payable, payees=payee_picker.of_request(request))
    if not form.is_valid():
        return _render_form(request, form, others, status=422)
    try:
        row = _requested(request, form)
    except workflow.CannotRequest as problem:
        form.refuse(problem.problems)
        return _render_form(request, form, others, status=422)
    messages.success(request, f"{row.reference} {REQUESTED}", extra_tags="new-withdrawal")
    return redirect("withdrawal", row.pk)


@posted(rules.may_request, ONLY_OPERATORS)
def figures(request: DeskRequest) -> HttpResponse:
    """What arrives, what leaves, its value and the number of approvals it needs, for what was typed so far."""
    account = accounts.required(request)
    currency = currencies.currency(request.POST.get("currency", ""))
    context: dict[str, Any] = {"now": clock.now(), "account": account, "currency": currency}
    if currency is not None:
        context["balance"] = Balance.objects.filter(
            account=account, currency=currency.code, wallet=Balance.BANK
        ).first()
        context |= _figures(request, account, currency)
    return show(request, "exchange_ops/new/_figures.html", context)


@posted(rules.may_request, ONLY_OPERATORS)
def destination(request: DeskRequest) -> HttpResponse:
    """The address in its normal form and in groups, its network, its warnings, and what is known of the recipient."""
    split = _split(request)
    typed: Mapping[str, str] = split.fields if split else request.POST.dict()
    context: dict[str, Any] = {"now": clock.now(), "split": split}
    currency = currencies.currency(typed.get("currency", ""))
    address_text = typed.get("address", "")[:LONGEST_TYPED]
    if currency is not None and address_text.strip():
        context |= _destination(request, currency, address_text, typed.get("payment_id", "")[:LONGEST_TYPED])
    elif address_text.strip():
        context["waits"] = "Choose a currency so that the address can be checked."
    return show(request, "exchange_ops/new/_destination.html", context)


@dataclass(frozen=True, slots=True)
class Sums:
    """What reaches the address and what leaves the account with the estimated fee, and with the highest one covered."""

    arrives: Decimal
    leaves: Decimal
    fee: Decimal
    fee_limit: Decimal
    least_arrives: Decimal
    most_leaves: Decimal


def _render_form(
    request: DeskRequest,
    form: NewWithdrawalForm,
    others: list[dict[str, str]],
    *,
    split: SplitRequest | None = None,
    source: Withdrawal | PayoutTemplate | None = None,
    filled: Payee | None = None,
    status: int = 200,
) -> HttpResponse:
    account = accounts.current(request)
    context = {"form": form, "others": others, "now": clock.now(), "account": account, "split": split}
    context |= {"filled": filled, "again": None, "template": None}
    context["template" if isinstance(source, PayoutTemplate) else "again"] = source
    context["file_again"] = bool(request.FILES)
    context["frozen"] = freezes.active_at(account)
    context["watches_only"] = account is not None and key_status.watches_only([account])
    return show(request, "exchange_ops/new.html", context, status=status)


def _requested(request: DeskRequest, form: NewWithdrawalForm) -> Withdrawal:
    return workflow.request(
        initiator=request.user,
        account=accounts.required(request),
        now=clock.now(),
        session_key=request.session.session_key or "",
        file=form.cleaned_data["file"],
        **form.arguments(),
    )


def _repeated(request: DeskRequest) -> Withdrawal | None:
    """The ended request of this account that a link asks for once more, if there is one."""
    if (number := prefilled_number(request, "again")) is None:
        return None
    row = Withdrawal.objects.filter(pk=number, account=accounts.current(request)).first()
    return row if row is not None and withdrawal_rules.may_repeat(request.user, row) else None


def _template(request: DeskRequest) -> PayoutTemplate | None:
    """The template of this account that a link fills in, if there is one."""
    number, account = prefilled_number(request, "template"), accounts.current(request)
    return None if number is None or account is None else book.offered([account]).filter(pk=number).first()


def _split(request: DeskRequest) -> SplitRequest | None:
    """The payment request in the address field; one that can't be read is left to the checks of the address."""
    try:
        return split_request(request.POST)
    except CannotRead:
        return None


def _prefilled(request: DeskRequest) -> dict[str, str]:
    """Values that a link may fill in; a person still reads and submits the form."""
    return prefilled(request, "currency", "address", "payment_id", longest=400)


def _currencies() -> tuple[list[Currency], list[dict[str, str]]]:
    """The currencies that can be paid out now, and why the others can't."""
    rows = list(Currency.objects.order_by("code"))
    problems = {row.code: request_checks.currency_problem(row) for row in rows}
    others = [{"code": code, "why": why} for code, why in problems.items() if why]
    return [row for row in rows if not problems[row.code]], others


def _figures(request: DeskRequest, account: Account, currency: Currency) -> dict[str, Any]:
    text = request.POST.get("amount", "")[:80].strip()
    if not text:
        return {}
    try:
        amount = read_amount(text)
    except forms.ValidationError as refusal:
        return {"problem": refusal.messages[0]}
    include_fee = request.POST.get("fee_from") == NewWithdrawalForm.FEE_FROM_AMOUNT
    problem = request_checks.amount_problem(account=account, currency=currency, amount=amount, include_fee=include_fee)
    now = clock.now()
    estimate = checks.ask_fee(account=account, currency=currency.code, amount=amount, person=request.user, now=now)
    fee = estimate.fee if estimate.fee is not None else currency.payout_fee
    payout = {"account": account, "currency": currency.code, "amount": amount, "include_fee": include_fee}
    destination = _readable(request, currency)
    intent = Intent(account=account, currency=currency.code, amount=amount, requester=request.user, fee=fee)
    if destination is not None:
        intent = replace(intent, address=destination.address, payment_id=destination.payment_id)
    verdict, columns = policy_evaluation.verdict_on(intent, now=now)
    return {
        "amount": amount,
        "problem": problem,
        "estimate": estimate,
        "sums": _sums(payout, fee, now),
        "include_fee": include_fee,
        "verdict": verdict,
        "value": columns,
        "equal": _equal(destination, account, currency, amount),
    }


def _readable(request: DeskRequest, currency: Currency) -> Destination | None:
    """The recipient that was typed, once it is readable."""
    address, payment_id = (request.POST.get(name, "")[:LONGEST_TYPED] for name in ("address", "payment_id"))
    try:
        return destinations.check(currency=currency, address=address, payment_id=payment_id)
    except destinations.CannotUseDestination:
        return None


def _equal(destination: Destination | None, account: Account, currency: Currency, amount: Decimal) -> list[Withdrawal]:
    """Requests of the last day with this amount and recipient."""
    if destination is None:
        return []
    return equal_payments.find(
        account=account,
        currency=currency.code,
        amount=amount,
        address=destination.address,
        payment_id=destination.payment_id,
        at=clock.now(),
    )


def _sums(payout: dict[str, Any], fee: Decimal | None, now: datetime) -> Sums | None:
    if fee is None:
        return None
    amount, most = payout["amount"], fee_limits.highest(**payout, estimate=fee, now=now)
    if payout["include_fee"]:
        return Sums(amount - fee, amount, fee, most, amount - most, amount)
    return Sums(amount, amount + fee, fee, most, amount, amount + most)


def _destination(request: DeskRequest, currency: Currency, address_text: str, payment_id: str) -> dict[str, Any]:
    try:
        destination = destinations.check(currency=currency, address=address_text, payment_id=payment_id)
    except destinations.CannotUseDestination as problem:
        return {"problems": problem.problems}
    now, account = clock.now(), accounts.required(request)
    own = checks.ask_address(
        account=account, currency=currency.code, address=destination.address, person=request.user, now=now
    )
    place = Place(account.pk, currency.code, destination.address, destination.payment_id)
    recipient = briefing.briefings([Subject(place, account, now)], now=now)[0]
    return {"destination": destination, "own": own, "currency": currency, "recipient": recipient}
