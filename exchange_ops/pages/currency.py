"""One currency: where it is held, what is reserved and why, its past balances, and the deposits by address."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Count, Max
from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

from desk import clock
from desk.fields import ExactSum
from desk.models import Person
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.addresses.models import DepositAddress
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.market.valuation import plain_code
from exchange_ops.pages import funds as funds_page
from exchange_ops.pages.overview.view import range_of
from exchange_ops.portfolio import amounts, drawings, history
from exchange_ops.portfolio.models import Profit
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires
from exchange_ops.withdrawals import funds

LAST_LINES, MOST_ADDRESSES = 25, 50
PARTS = {name: f"exchange_ops/currency/_{name}.html" for name in ("holding", "past", "deposits", "lines")}


@require_safe
@requires(rules.may_see)
def currency(request: DeskRequest, currency: str) -> HttpResponse:
    """The page, or one part of it by the id of its element. 404 for an unknown code."""
    now, mine, code = clock.now(), accounts.in_view(request), currency.upper()[:20]
    all_funds = funds.by_currency(accounts=mine, quote=mine[0].quote_currency, now=now) if mine else []
    row = next((each for each in all_funds if each.currency == code), None)
    if row is None or "\0" in code:
        raise Http404("Not held in any account, and not listed on the exchange.")
    chosen = range_of(request.GET.get("range", ""))
    context = {"now": now, "accounts": mine, "account": mine[0] if len(mine) == 1 else None, "code": code}
    context |= {"range": chosen, "ranges": history.RANGES, "quote": mine[0].quote_currency}
    target = request.htmx.target if request.htmx else None
    readers = {"holding": _holding, "past": _past, "deposits": _deposits, "lines": _lines}
    for name, read in readers.items():
        if target not in readers or name == target:
            context |= read(row=row, mine=mine, person=request.user, days=int(chosen), now=now)
    return show(request, "exchange_ops/currency.html", context, parts=PARTS)


def _holding(*, row: funds.Funds, mine: list[Account], person: Person, days: int, now: datetime) -> dict[str, Any]:
    """Both wallets, the holdings outside them, and what the reserve consists of."""
    account = mine[0] if len(mine) == 1 else None
    (line,) = funds_page.lines(
        [row], amounts.outside_wallets(amounts.now(mine)), person=person, account=account, mine=mine
    )
    return {"line": line, "row": row}


def _past(*, row: funds.Funds, mine: list[Account], person: Person, days: int, now: datetime) -> dict[str, Any]:
    """The daily balance of both wallets up to now, its flows and its profit."""
    balances: list[tuple[datetime, Decimal | None]] = list(
        history.amounts(accounts=mine, currency=row.currency, days=days, now=now)
    )
    if row.read_at is not None:
        balances.append((now, row.total))
    flows = history.flows(accounts=mine, days=days, now=now)
    return {
        "row": row,
        "balances": list(reversed(balances)),
        "picture": drawings.line(balances),
        "flow": next((flow for flow in flows.rows if flow.currency == row.currency), None),
        "profits": list(
            Profit.objects.filter(account__in=mine, coin=plain_code(row.currency))
            .select_related("account")
            .order_by("account", "-method")
        ),
    }


def _deposits(*, row: funds.Funds, mine: list[Account], person: Person, days: int, now: datetime) -> dict[str, Any]:
    """Each address with its deposits, the latest first, then the addresses that were never used."""
    entries = LedgerEntry.objects.filter(account__in=mine, currency=row.currency, type="payin", status="success")
    totals_by_address = entries.values("address", "payment_id").annotate(
        count=Count("pk"), amount=ExactSum("amount"), last=Max("updated_at")
    )
    used_addresses = list(totals_by_address.order_by("-last")[:MOST_ADDRESSES])
    used = {(each["address"], each["payment_id"]) for each in used_addresses}
    rows = DepositAddress.objects.filter(account__in=mine, currency=row.currency).order_by(
        "-is_current", "-first_seen_at"
    )
    current = {(each.address, each.payment_id) for each in rows if each.is_current}
    idle = [
        {"address": each.address, "payment_id": each.payment_id, "count": 0}
        for each in rows[:MOST_ADDRESSES]
        if (each.address, each.payment_id) not in used
    ]
    return {"row": row, "addresses": used_addresses + idle, "current": {address for address, _ in current}}


def _lines(*, row: funds.Funds, mine: list[Account], person: Person, days: int, now: datetime) -> dict[str, Any]:
    """The last lines of the ledger in this currency."""
    entries = LedgerEntry.objects.filter(account__in=mine, currency=row.currency).select_related(
        "withdrawal", "account"
    )
    return {"entries": list(entries.order_by("-index" if len(mine) == 1 else "-pk")[:LAST_LINES])}
