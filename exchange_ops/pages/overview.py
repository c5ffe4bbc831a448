"""The overview: what the accounts hold, what waits for whom, what ends next, and whether the desk is well."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from desk import clock
from desk.incidents import queries as incidents
from desk.incidents.models import Incident
from desk.models import Person
from desk.views.rendering import show
from exchange_ops.ledger import sources
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.pages import holdings, totals, wellbeing
from exchange_ops.policy.models import Freeze
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires
from exchange_ops.transfers import approvals as transfer_approvals
from exchange_ops.transfers import machine as transfer_states
from exchange_ops.transfers import workflow as transfers
from exchange_ops.transfers.models import Transfer
from exchange_ops.withdrawals import machine, queries
from exchange_ops.withdrawals import machine as states
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.models import Withdrawal

LAST_LINES = 10

Reader = Callable[[Person, list[Account], datetime], dict[str, Any]]


def _balances(person: Person, mine: list[Account], now: datetime) -> dict[str, Any]:
    quote = totals.quote_for(person, mine)
    if len(mine) > 1:
        return totals.for_page(mine, quote=quote, now=now) | {"states": _states(mine, now)}
    account = mine[0] if mine else None
    found = {"holdings": holdings.table(account, quote=quote, now=now), "source": sources.of_ledger(account, now)}
    return found | totals.for_page(mine, quote=quote, now=now)


def _states(mine: list[Account], now: datetime) -> list[dict[str, Any]]:
    """Of each account: what is under way, and whether it is frozen."""
    rows = Withdrawal.objects.filter(account__in=mine, state__in=states.OPEN_STATES).values("account")
    payouts = {row["account"]: row["count"] for row in rows.annotate(count=Count("pk")).order_by("account")}
    frozen = set(Freeze.objects.filter(account__in=mine, thawed_at=None).values_list("account_id", flat=True))
    return [
        {
            "account": account,
            "payouts": payouts.get(account.pk, 0),
            "is_frozen": account.pk in frozen,
            "source": sources.of_ledger(account, now),
        }
        for account in mine
    ]


def _work(person: Person, mine: list[Account], now: datetime) -> dict[str, Any]:
    scopes = _scopes(mine)
    waiting = list(incidents.of_scope(incidents.waiting_for(person), *scopes)[:LAST_LINES])
    holds = list(_open(mine).filter(state__in=queries.UNDER_WAY).order_by("approve_until", "pk"))
    payouts = approvals.waiting_for(person).filter(account__in=mine)
    moves = transfer_approvals.waiting_for(person).filter(account__in=mine)
    return {
        "exchange_now": accounts.exchange_now(mine[0] if len(mine) == 1 else None, now),
        "mine": list(payouts.order_by("approve_until", "pk")[:LAST_LINES]),
        "asked": list(_open(mine).filter(initiator=person).order_by("-pk")[:LAST_LINES]),
        "holds": holds,
        "mine_incidents": waiting,
        "mine_transfers": list(moves[:LAST_LINES]),
        "transfers": _transfers_besides(waiting, mine),
        "next": next((row for row in holds if row.state == machine.HELD and row.approve_until), None),
    }


def _lines(person: Person, mine: list[Account], now: datetime) -> dict[str, Any]:
    entries = LedgerEntry.objects.filter(account__in=mine).select_related("withdrawal", "account")
    return {"entries": list(entries.order_by("-index" if len(mine) == 1 else "-pk")[:LAST_LINES])}


def _wellbeing(person: Person, mine: list[Account], now: datetime) -> dict[str, Any]:
    return {
        "checks": wellbeing.of(person),
        "incidents": list(incidents.of_scope(incidents.unresolved(person), *_scopes(mine))),
    }


def _scopes(mine: list[Account]) -> list[str]:
    return [str(account.pk) for account in mine]


def _open(mine: list[Account]) -> Any:
    rows = Withdrawal.objects.filter(account__in=mine, state__in=states.OPEN_STATES)
    return rows.select_related("initiator", "account")


def _transfers_besides(named: list[Incident], mine: list[Account]) -> list[Transfer]:
    """Those that wait or whose outcome is unknown, the newest first; not twice what stands there as an incident."""
    pages = {incident.url for incident in named}
    rows = transfers.newest().filter(account__in=mine, state__in=transfer_states.OPEN_STATES)[: LAST_LINES + len(pages)]
    return [row for row in rows if reverse("transfer", args=[row.pk]) not in pages][:LAST_LINES]


READERS: dict[str, Reader] = {"balances": _balances, "work": _work, "lines": _lines, "wellbeing": _wellbeing}
PARTS = {name: f"exchange_ops/overview/_{name}.html" for name in READERS}


@require_safe
@requires(rules.may_see)
def overview(request: HttpRequest) -> HttpResponse:
    """The first page. htmx asks for one part of it by the id of its element."""
    now, mine = clock.now(), accounts.in_view(request)
    account = mine[0] if len(mine) == 1 else None
    target = request.htmx.target if request.htmx else None
    context: dict[str, Any] = {"now": now, "account": account, "accounts": mine}
    context["may_request"] = account is not None and rules.may_request(request.user)
    for name, read in READERS.items():
        if target not in READERS or name == target:
            context |= read(request.user, mine, now)
    several = {"balances": "exchange_ops/overview/_accounts.html"} if len(mine) > 1 else {}
    return show(request, "exchange_ops/overview.html", context, parts=PARTS | several)
