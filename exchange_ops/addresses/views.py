"""Where to deposit one currency: the current address with its code to scan, the earlier ones, and requesting a new one.

The page reads rows. When its copy is old, it writes a row that has a worker ask the exchange.
"""

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_safe

from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.addresses import deposits, requests
from exchange_ops.addresses.models import AddressBook, AddressRequest, DepositAddress
from exchange_ops.market.models import Currency
from exchange_ops.shared import rules
from exchange_ops.shared.forms import fresh_key
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import posted, requires

ONLY_OPERATORS = "No new address was requested. Only operators can request one; you can view all addresses."
MOST_OLDER = 50
PARTS = {"addresses": "exchange_ops/deposit/_addresses.html"}


class NewAddressForm(forms.Form):
    """The request for a new address; the key makes a double click and a second tab one request."""

    request_key = forms.UUIDField(widget=forms.HiddenInput)


@require_safe
@requires(rules.may_see)
def deposit(request: DeskRequest, currency: str) -> HttpResponse:
    """The page, or its live part."""
    return _page(request, _currency(currency))


@posted(rules.may_reread_addresses)
def read(request: DeskRequest, currency: str) -> HttpResponse:
    """Have the addresses read again, unless that happened just now."""
    coin = _currency(currency)
    deposits.ask(account=accounts.required(request), currency=coin.code, person=request.user, now=clock.now())
    return _page(request, coin) if request.htmx else redirect("deposit", coin.code)


@posted(rules.may_request, ONLY_OPERATORS)
def new_address(request: DeskRequest, currency: str) -> HttpResponse:
    """Request a new address, once however often the form is sent."""
    coin, form, now = _currency(currency), NewAddressForm(request.POST), clock.now()
    if not form.is_valid():
        return _page(request, coin, status=422, refusal="No new address was requested. Reload the page and try again.")
    request_of = {
        "request_key": str(form.cleaned_data["request_key"]),
        "session_key": request.session.session_key or "",
    }
    try:
        requests.request(
            initiator=request.user, account=accounts.required(request), currency=coin.code, now=now, **request_of
        )
    except requests.CannotAsk as problem:
        return _page(request, coin, status=409, refusal=str(problem))
    messages.success(request, f"New {coin.code} address requested. It will appear here automatically.")
    return redirect("deposit", coin.code)


def _currency(code: str) -> Currency:
    currency = get_object_or_404(Currency, pk=code.upper()[:20])
    if not currency.crypto:
        raise Http404("This currency has no deposit addresses: it is not on a blockchain.")
    return currency


def _page(request: DeskRequest, currency: Currency, *, status: int = 200, refusal: str = "") -> HttpResponse:
    now, account = clock.now(), accounts.current(request)
    context: dict[str, Any] = {
        "now": now,
        "account": account,
        "currency": currency,
        "problem": deposits.problem_of(currency),
        "refusal": refusal,
        "may_request": rules.may_request(request.user),
        "may_reread": rules.may_reread_addresses(request.user),
        "form": NewAddressForm(initial={"request_key": fresh_key()}),
        "most": requests.NEW_A_DAY,
    }
    if account is not None:
        context |= _addresses(account, currency, now)
    return show(request, "exchange_ops/deposit.html", context, parts=PARTS, status=status)


def _addresses(account: Account, currency: Currency, now: datetime) -> dict[str, Any]:
    book = AddressBook.objects.filter(account=account, currency=currency.code).first()
    rows = list(
        DepositAddress.objects.filter(account=account, currency=currency.code).order_by("place", "-first_seen_at")
    )
    requests_made = AddressRequest.objects.filter(account=account, currency=currency.code).select_related(
        "initiator", "made"
    )
    return {
        "book": book,
        "is_due": deposits.is_due(book, now=now),
        "current": next((row for row in rows if row.is_current), None),
        "recent": [row for row in rows if row.place is not None],
        "older": [row for row in rows if row.place is None and not row.is_current][:MOST_OLDER],
        "asked": requests_made.order_by("-pk").first(),
        "left": requests.remaining_today(account=account, currency=currency.code, now=now),
        "why_not": requests.problem_of(account=account, currency=currency.code, now=now),
    }
