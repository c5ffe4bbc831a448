"""Funds: both wallets of every currency, its value, what is reserved and why, and what can be done with it."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from desk import clock
from desk.models import Person
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.ledger import sources
from exchange_ops.pages import currency_actions
from exchange_ops.pages.forms import FundsFilter
from exchange_ops.portfolio import amounts, reserves, totals
from exchange_ops.portfolio.models import MARGIN, SUBACCOUNTS
from exchange_ops.portfolio.reserves import Reserve
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires
from exchange_ops.withdrawals import funds as withdrawal_funds
from exchange_ops.withdrawals.funds import Funds

NOTHING = {SUBACCOUNTS: Decimal(0), MARGIN: Decimal(0)}
PARTS = {"holdings": "exchange_ops/funds/_rows.html"}


@dataclass(frozen=True, slots=True)
class Line:
    """One currency of the page; `outside_wallets` holds the amounts in sub-accounts and as margin collateral."""

    funds: Funds
    reserve: Reserve
    outside_wallets: dict[str, Decimal]
    actions: list[currency_actions.Action]
    dust: currency_actions.Dust | None


@require_safe
@requires(rules.may_see)
def funds(request: DeskRequest) -> HttpResponse:
    """Every currency with a balance; the others are folded below, or listed on request."""
    now, mine = clock.now(), accounts.in_view(request)
    account = mine[0] if len(mine) == 1 else None
    filters = FundsFilter(request.GET)
    chosen = filters.chosen()
    quote = totals.quote_for(request.user, mine)
    all_funds = withdrawal_funds.by_currency(accounts=mine, quote=quote, now=now) if mine else []
    outside_wallets = amounts.outside_wallets(amounts.now(mine))
    rows = _sorted(filters.narrow_funds(all_funds, outside_wallets=outside_wallets), chosen.get("sort", "value"))
    listed = {row.currency for row in rows}
    context = {
        "now": now,
        "account": account,
        "accounts": mine,
        "quote": quote,
        **totals.for_page(mine, quote=quote, now=now),
        "source": sources.of_ledger(account, now),
        "filters": filters,
        "chosen": chosen,
        "rows": lines(rows, outside_wallets, person=request.user, account=account, mine=mine),
        "folded": []
        if chosen.get("text")
        else [row for row in all_funds if not row.total and row.currency not in listed],
        "unvalued": [row.currency for row in all_funds if row.total and row.worth is None],
        "may_request": account is not None and rules.may_request(request.user),
    }
    return show(request, "exchange_ops/funds.html", context, parts=PARTS)


def lines(
    rows: list[Funds],
    outside_wallets: dict[str, dict[str, Decimal]],
    *,
    person: Person,
    account: Account | None,
    mine: list[Account],
) -> list[Line]:
    """The rows with their reserves and possible actions; eight queries however many there are."""
    if not rows:
        return []
    reserves_by_code, market = reserves.by_currency(mine), currency_actions.market()
    return [
        Line(
            row,
            reserves_by_code.get(row.currency, Reserve(row.currency)),
            outside_wallets.get(row.currency, NOTHING),
            currency_actions.actions(row=row, person=person, account=account, market=market),
            currency_actions.dust(row=row, market=market),
        )
        for row in rows
    ]


def _sorted(rows: list[Funds], by: str) -> list[Funds]:
    keys: dict[str, Any] = {
        "currency": lambda row: row.currency,
        "age": lambda row: (row.read_at is None, row.read_at, row.currency),
        "value": lambda row: (row.worth is None, -(row.worth or Decimal(0)), -row.total, row.currency),
    }
    rows_with_reading = [row for row in rows if row.read_at is not None]
    rows_without_reading = [row for row in rows if row.read_at is None]
    return sorted(rows_with_reading, key=keys[by]) + sorted(rows_without_reading, key=keys["currency"])
