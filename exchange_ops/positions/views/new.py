"""Asking for a margin action: collateral, a close of a position, of an account, of every position.

The button names what it does, and the form sends these words along. When something was typed or changed at the exchange
after they were drawn, the page shows the new words first, and only the next press does it.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from desk import clock
from desk.models import Person
from desk.views.rendering import show
from desk.web.requests import DeskRequest, prefilled
from exchange_ops.margin import danger
from exchange_ops.market import interest
from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.orders.ticket import confirmations
from exchange_ops.policy import freezes
from exchange_ops.policy.freeze_scopes import Movement
from exchange_ops.policy.oversteps import CONFIRMED, MOST_CONFIRMED
from exchange_ops.positions import estimates, oversteps, request_checks, states, words, workflow
from exchange_ops.positions.forms import CloseAccountForm, CloseForm, CollateralForm
from exchange_ops.positions.models import MarginAction
from exchange_ops.positions.request_checks import ONLY_OPERATORS, CannotAct, MarginCopies, Wish
from exchange_ops.shared import rules
from exchange_ops.shared.forms import RequestForm, fresh_key
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts, live_fields
from exchange_ops.shared.views.access import posted, requires

COLLATERAL, CLOSE, ACCOUNT = "collateral", "close-position", "close-account"
PAGES = {
    COLLATERAL: "exchange_ops/margin_collateral.html",
    CLOSE: "exchange_ops/margin_close.html",
    ACCOUNT: "exchange_ops/margin_close_account.html",
}
FIGURES = "exchange_ops/margin/_figures.html"
REVIEW = "Check the summary, then press the button to confirm."


@dataclass(frozen=True, slots=True)
class Sheet:
    """One of the forms, for one symbol or (opening) for one that is still to be chosen."""

    account: Account
    name: str
    code: str
    form: RequestForm

    def wish(self) -> Wish | None:
        """What the form requests; None while it is incomplete."""
        form = self.form
        if not form.is_bound and not isinstance(form, CollateralForm):
            return self._first()
        if not form.is_bound or not form.errors.keys() <= {CONFIRMED}:
            return None
        if isinstance(form, CollateralForm):
            there = request_checks.read_copies(account=self.account, code=form.cleaned_data["symbol"])
            return form.wish(exists=bool(self.code) and there.held is not None)
        if isinstance(form, CloseForm):
            return form.wish(self.code)
        return Wish(kind=states.CLOSE_ACCOUNT, symbol=self.code, position_id=form.cleaned_data["position_id"])

    def _first(self) -> Wish:
        """What a close is before anybody typed: the whole position at the market."""
        kind = states.CLOSE if self.name == CLOSE else states.CLOSE_ACCOUNT
        order_type = states.MARKET if self.name == CLOSE else ""
        return Wish(
            kind=kind, symbol=self.code, order_type=order_type, position_id=self.form.initial.get("position_id")
        )


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_trade, ONLY_OPERATORS)
def open_account(request: DeskRequest) -> HttpResponse:
    """Collateral for a symbol that is chosen on the page."""
    return _page(request, COLLATERAL, "")


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_trade, ONLY_OPERATORS)
def collateral(request: DeskRequest, symbol: str) -> HttpResponse:
    """Other collateral for the account of a symbol, or the first."""
    return _page(request, COLLATERAL, symbol)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_trade, ONLY_OPERATORS)
def close_position(request: DeskRequest, symbol: str) -> HttpResponse:
    """A position, or a part of it, at the market or at a limit."""
    return _page(request, CLOSE, symbol)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_trade, ONLY_OPERATORS)
def close_account(request: DeskRequest, symbol: str) -> HttpResponse:
    """An account, with its position."""
    return _page(request, ACCOUNT, symbol)


@posted(rules.may_trade, ONLY_OPERATORS)
def figures(request: DeskRequest, kind: str) -> HttpResponse:
    """What it would come to, and the button with its words, for what is typed so far."""
    code = request.POST.get("code", "")[:40]
    sheet = _sheet(request, accounts.required(request), kind if kind in PAGES else COLLATERAL, code)
    figures = _figures(request, sheet)
    field_states = live_fields.states(sheet.form, figures.get("field_problems"))
    others = live_fields.elsewhere(sheet.form, figures.get("field_problems", {}))
    return show(request, FIGURES, figures | {"is_part": True, "field_states": field_states, "problems": others})


def _page(request: DeskRequest, name: str, code: str) -> HttpResponse:
    """The form; sent with the words of its button, it becomes one action however often it is sent."""
    sheet = _sheet(request, accounts.required(request), name, code)
    if request.method != "POST":
        return _render_form(request, sheet)
    if (wish := sheet.wish()) is None or sheet.form.errors:
        return _render_form(request, sheet, status=422)
    try:
        row = _record(request, sheet, wish)
    except CannotAct as problem:
        sheet.form.refuse(problem.problems)
        return _render_form(request, sheet, status=422)
    if row is None:
        return _render_form(request, sheet, review=REVIEW)
    messages.success(request, f"{row.reference} recorded; sending now.", extra_tags=f"margin-{name}-{code}")
    return redirect("margin-action", row.pk)


def _record(request: DeskRequest, sheet: Sheet, wish: Wish) -> Any:
    """The action; None when the words of the button were not those of the form, or there were none yet."""
    key = str(sheet.form.cleaned_data["request_key"])
    summary = _summary(sheet.account, request.user, wish.symbol, wish)
    earlier = workflow.is_recorded(initiator=request.user, request_key=key)
    if not earlier and not summary["problems"] and request.POST.get("effect") != summary["effect"]:
        return None
    return workflow.act(
        initiator=request.user,
        account=sheet.account,
        wish=wish,
        request_key=key,
        now=clock.now(),
        confirmed=sheet.form.cleaned_data["confirmed"],
        session_key=request.session.session_key or "",
    )


def _figures(request: DeskRequest, sheet: Sheet) -> dict[str, Any]:
    ticked = request.POST.getlist("confirmed")[:MOST_CONFIRMED]
    return _summary(sheet.account, request.user, _symbol_code(sheet), sheet.wish(), confirmed=ticked)


def _render_form(request: DeskRequest, sheet: Sheet, *, status: int = 200, review: str = "") -> HttpResponse:
    context = {
        "form": sheet.form,
        "code": sheet.code,
        "kind": sheet.name,
        "review": review,
        "frozen": freezes.stopping(Movement(sheet.account.pk, symbol=_symbol_code(sheet))),
        **_figures(request, sheet),
    }
    return show(request, PAGES[sheet.name], context, status=status)


def _sheet(request: DeskRequest, account: Account, name: str, code: str) -> Sheet:
    data = request.POST if request.method == "POST" else None
    code = code.replace("\0", "\ufffd")  # no text in the database has it
    there = request_checks.read_copies(account=account, code=code)
    initial: dict[str, Any] = {"request_key": fresh_key()}
    if there.position is not None:
        initial["position_id"] = there.position.exchange_id
    if name == COLLATERAL:
        symbols = [code] if code else _margin_symbols()
        initial |= {"symbol": code} if code else prefilled(request, "symbol", longest=40)
        return Sheet(account, name, code, CollateralForm(data, initial=initial, symbols=symbols))
    form_of = CloseForm if name == CLOSE else CloseAccountForm
    return Sheet(account, name, code, form_of(data, initial=initial))


def _symbol_code(sheet: Sheet) -> str:
    """The symbol that the form is about, even while it is incomplete."""
    if sheet.code or not isinstance(sheet.form, CollateralForm):
        return sheet.code
    return str(sheet.form["symbol"].value() or "")[:40]


def _margin_symbols() -> list[str]:
    return list(Symbol.objects.filter(margin_trading=True).order_by("code").values_list("code", flat=True))


# What it would come to -----------------------------------------------------------------------------------------------


def _summary(
    account: Account, person: Person, code: str, wish: Wish | None, *, confirmed: Collection[str] = ()
) -> dict[str, Any]:
    """Everything the page can say; `effect` is empty while something is wrong or missing.

    The order book is read closely while somebody stands here. `confirmed` are the tokens that were ticked.
    """
    now, there = clock.now(), request_checks.read_copies(account=account, code=code)
    context: dict[str, Any] = {"now": now, "there": there, "effect": "", "problems": [], "wish": wish}
    if there.symbol is None:
        return context
    quote = there.symbol.quote_currency
    context["balance"] = request_checks.available(account=account, currency=quote)
    if there.held is not None:
        context["least"] = request_checks.least_collateral(there.held, there.position)
    if there.position is not None:
        interest.ask(symbol=there.symbol, period=interest.DEFAULT_PERIOD, now=now)
        ticker = Ticker.objects.filter(pk=code).first()
        context["exposure"] = danger.exposure(position=there.position, ticker=ticker, now=now)
    if wish is None:
        return context
    row = request_checks.draft(initiator=person, account=account, wish=wish, there=there)
    problems, overstep_list = request_checks.judge(row=row, wish=wish, there=there, now=now)
    ticks = [] if problems else confirmations.ticks(overstep_list, confirmed)
    risk = oversteps.change(row=row, symbol=there.symbol, held=there.held, position=there.position, now=now)
    return context | {"oversteps": ticks, "risk": risk} | _outcome(row, there, problems, context)


def _outcome(
    row: MarginAction, there: MarginCopies, problems: dict[str, str], context: dict[str, Any]
) -> dict[str, Any]:
    summary: dict[str, Any] = {"problems": list(problems.values()), "field_problems": problems}
    if row.kind in states.CLOSING and there.position is not None and there.symbol is not None and row.quantity:
        summary["estimate"] = estimates.current(
            position=there.position, symbol=there.symbol, quantity=row.quantity, price=row.price
        )
        summary["warnings"] = summary["estimate"].warnings(now=context["now"])
        summary["remaining"] = abs(there.position.quantity) - row.quantity
    before = None if there.held is None else there.held.margin_balance
    if row.amount is not None:
        summary["change"] = row.amount - (before or 0)
    if not problems:
        summary["effect"] = words.sentence_of(row, there.symbol, before=before)
    return summary
