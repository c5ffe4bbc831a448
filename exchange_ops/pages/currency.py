"""One currency: where it is, what is reserved and why, how much there was, and what came in on which address."""

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
from exchange_ops.pages import funds as listing
from exchange_ops.pages.overview.view import range_of
from exchange_ops.portfolio import amounts, drawings, history
from exchange_ops.portfolio.models import Profit
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires
from exchange_ops.withdrawals import funds as domain

LAST_LINES, MOST_ADDRESSES = 25, 50
PARTS = {name: f"exchange_ops/currency/_{name}.html" for name in ("holding", "past", "deposits", "lines")}


@require_safe
@requires(rules.may_see)
def currency(request: DeskRequest, currency: str) -> HttpResponse:
    """The page, or one part of it by the id of its element. A 404 for a code that nothing here knows."""
    now, mine, code = clock.now(), accounts.in_view(request), currency.upper()[:20]
    row = (
        next(
            (
                row
                for row in domain.by_currency(accounts=mine, quote=mine[0].quote_currency, now=now)
                if row.currency == code
            ),
            None,
        )
        if mine
        else None
    )
    if row is None or "\0" in code:
        raise Http404("No account holds it and the exchange does not describe it.")
    chosen = range_of(request.GET.get("range", ""))
    context = {"now": now, "accounts": mine, "account": mine[0] if len(mine) == 1 else None, "code": code}
    context |= {"range": chosen, "ranges": history.RANGES, "quote": mine[0].quote_currency}
    target = request.htmx.target if request.htmx else None
    readers = {"holding": _holding, "past": _past, "deposits": _deposits, "lines": _lines}
    for name, read in readers.items():
        if target not in readers or name == target:
            context |= read(row=row, mine=mine, person=request.user, days=int(chosen), now=now)
    return show(request, "exchange_ops/currency.html", context, parts=PARTS)


def _holding(*, row: domain.Funds, mine: list[Account], person: Person, days: int, now: datetime) -> dict[str, Any]:
    """Both wallets and what is besides them, with the reserve taken apart."""
    account = mine[0] if len(mine) == 1 else None
    (line,) = listing.lines([row], amounts.besides(amounts.now(mine)), person=person, account=account, mine=mine)
    return {"line": line, "row": row}


def _past(*, row: domain.Funds, mine: list[Account], person: Person, days: int, now: datetime) -> dict[str, Any]:
    """The balance of both wallets day by day, up to now, and what it earned."""
    known: list[tuple[datetime, Decimal | None]] = list(
        history.amounts(accounts=mine, currency=row.currency, days=days, now=now)
    )
    if row.read_at is not None:
        known.append((now, row.total))
    found = history.flows(accounts=mine, days=days, now=now)
    return {
        "row": row,
        "balances": list(reversed(known)),
        "picture": drawings.line(known),
        "flow": next((flow for flow in found.rows if flow.currency == row.currency), None),
        "profits": list(
            Profit.objects.filter(account__in=mine, coin=plain_code(row.currency))
            .select_related("account")
            .order_by("account", "-method")
        ),
    }


def _deposits(*, row: domain.Funds, mine: list[Account], person: Person, days: int, now: datetime) -> dict[str, Any]:
    """Each address with what came in on it, the latest first; addresses that were never used follow."""
    entries = LedgerEntry.objects.filter(account__in=mine, currency=row.currency, type="payin", status="success")
    used = entries.values("address", "payment_id").annotate(
        count=Count("pk"), amount=ExactSum("amount"), last=Max("updated_at")
    )
    found = list(used.order_by("-last")[:MOST_ADDRESSES])
    seen = {(each["address"], each["payment_id"]) for each in found}
    rows = DepositAddress.objects.filter(account__in=mine, currency=row.currency).order_by(
        "-is_current", "-first_seen_at"
    )
    current = {(each.address, each.payment_id) for each in rows if each.is_current}
    idle = [
        {"address": each.address, "payment_id": each.payment_id, "count": 0}
        for each in rows[:MOST_ADDRESSES]
        if (each.address, each.payment_id) not in seen
    ]
    return {"row": row, "addresses": found + idle, "current": {address for address, _ in current}}


def _lines(*, row: domain.Funds, mine: list[Account], person: Person, days: int, now: datetime) -> dict[str, Any]:
    """The last lines of the ledger in this currency."""
    entries = LedgerEntry.objects.filter(account__in=mine, currency=row.currency).select_related(
        "withdrawal", "account"
    )
    return {"entries": list(entries.order_by("-index" if len(mine) == 1 else "-pk")[:LAST_LINES])}
