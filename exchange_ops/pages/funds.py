"""What is where: both wallets of every currency side by side, its value, what is reserved and why, and the ways."""

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
from exchange_ops.withdrawals import funds as domain
from exchange_ops.withdrawals.funds import Funds

NOTHING = {SUBACCOUNTS: Decimal(0), MARGIN: Decimal(0)}
PARTS = {"holdings": "exchange_ops/funds/_rows.html"}


@dataclass(frozen=True, slots=True)
class Line:
    """One currency of the page; `besides` is what is in sub-accounts and what is margin collateral."""

    funds: Funds
    reserve: Reserve
    besides: dict[str, Decimal]
    actions: list[currency_actions.Action]
    dust: currency_actions.Dust | None


@require_safe
@requires(rules.may_see)
def funds(request: DeskRequest) -> HttpResponse:
    """Every currency that holds something; the others folded below, or in the list when they are asked for."""
    now, mine = clock.now(), accounts.in_view(request)
    account = mine[0] if len(mine) == 1 else None
    filters = FundsFilter(request.GET)
    chosen = filters.chosen()
    quote = totals.quote_for(request.user, mine)
    found = domain.by_currency(accounts=mine, quote=quote, now=now) if mine else []
    besides = amounts.besides(amounts.now(mine))
    rows = _sorted(filters.of_funds(found, besides=besides), chosen.get("sort", "value"))
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
        "rows": lines(rows, besides, person=request.user, account=account, mine=mine),
        "folded": [] if chosen.get("text") else [row for row in found if not row.total and row.currency not in listed],
        "unvalued": [row.currency for row in found if row.total and row.worth is None],
        "may_request": account is not None and rules.may_request(request.user),
    }
    return show(request, "exchange_ops/funds.html", context, parts=PARTS)


def lines(
    rows: list[Funds],
    besides: dict[str, dict[str, Decimal]],
    *,
    person: Person,
    account: Account | None,
    mine: list[Account],
) -> list[Line]:
    """The rows with what is reserved of them and what can be done; eight queries however many there are."""
    if not rows:
        return []
    held, known = reserves.of(mine), currency_actions.market()
    return [
        Line(
            row,
            held.get(row.currency, Reserve(row.currency)),
            besides.get(row.currency, NOTHING),
            currency_actions.of(row=row, person=person, account=account, known=known),
            currency_actions.dust(row=row, known=known),
        )
        for row in rows
    ]


def _sorted(rows: list[Funds], by: str) -> list[Funds]:
    keys: dict[str, Any] = {
        "currency": lambda row: row.currency,
        "age": lambda row: (row.read_at is None, row.read_at, row.currency),
        "value": lambda row: (row.worth is None, -(row.worth or Decimal(0)), -row.total, row.currency),
    }
    known = [row for row in rows if row.read_at is not None]
    unknown = [row for row in rows if row.read_at is None]
    return sorted(known, key=keys[by]) + sorted(unknown, key=keys["currency"])
