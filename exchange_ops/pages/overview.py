"""The overview: what the account holds, what waits for whom, what ends next, and whether the desk is well."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from desk import clock, health
from desk.incidents import queries as incidents
from desk.incidents.models import Incident
from desk.models import Person
from desk.views.rendering import show
from exchange_ops.ledger import sources
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.pages import holdings
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

Reader = Callable[[Person, Account | None, datetime], dict[str, Any]]


def _balances(person: Person, account: Account | None, now: datetime) -> dict[str, Any]:
    return {"holdings": holdings.table(account, now=now), "source": sources.of_ledger(account, now)}


def _work(person: Person, account: Account | None, now: datetime) -> dict[str, Any]:
    waiting = list(incidents.waiting_for(person)[:LAST_LINES])
    holds = list(_open(account).filter(state__in=queries.UNDER_WAY).order_by("approve_until", "pk"))
    return {
        "exchange_now": accounts.exchange_now(account, now),
        "mine": list(approvals.waiting_for(person).order_by("approve_until", "pk")[:LAST_LINES]),
        "asked": list(_open(account).filter(initiator=person).order_by("-pk")[:LAST_LINES]),
        "holds": holds,
        "mine_incidents": waiting,
        "mine_transfers": list(transfer_approvals.waiting_for(person)[:LAST_LINES]),
        "transfers": _transfers_besides(waiting, account),
        "next": next((row for row in holds if row.state == machine.HELD and row.approve_until), None),
    }


def _lines(person: Person, account: Account | None, now: datetime) -> dict[str, Any]:
    entries = LedgerEntry.objects.filter(account=account).select_related("withdrawal")
    return {"entries": list(entries.order_by("-index")[:LAST_LINES])}


def _wellbeing(person: Person, account: Account | None, now: datetime) -> dict[str, Any]:
    return {"checks": health.look(), "incidents": list(incidents.unresolved(person))}


def _open(account: Account | None) -> Any:
    rows = Withdrawal.objects.filter(account=account, state__in=states.OPEN_STATES)
    return rows.select_related("initiator")


def _transfers_besides(named: list[Incident], account: Account | None) -> list[Transfer]:
    """Those that wait or whose outcome is unknown, the newest first; not twice what stands there as an incident."""
    pages = {incident.url for incident in named}
    rows = transfers.newest().filter(account=account, state__in=transfer_states.OPEN_STATES)[: LAST_LINES + len(pages)]
    return [row for row in rows if reverse("transfer", args=[row.pk]) not in pages][:LAST_LINES]


READERS: dict[str, Reader] = {"balances": _balances, "work": _work, "lines": _lines, "wellbeing": _wellbeing}
PARTS = {name: f"exchange_ops/overview/_{name}.html" for name in READERS}


@require_safe
@requires(rules.may_see)
def overview(request: HttpRequest) -> HttpResponse:
    """The first page. htmx asks for one part of it by the id of its element."""
    now, account = clock.now(), accounts.current()
    target = request.htmx.target if request.htmx else None
    context: dict[str, Any] = {"now": now, "account": account, "may_request": rules.may_request(request.user)}
    for name, read in READERS.items():
        if target not in READERS or name == target:
            context |= read(request.user, account, now)
    return show(request, "exchange_ops/overview.html", context, parts=PARTS)
