"""Blocks about work: what waits for the reader, deadlines, and the progress of requests."""

from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.urls import reverse

from desk.actions import entries, listing
from desk.incidents import queries as incidents
from desk.incidents.models import Incident
from exchange_ops.pages.overview.view import View
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.transfers import states as transfer_states
from exchange_ops.transfers import workflow
from exchange_ops.transfers.models import Transfer
from exchange_ops.withdrawals import progress, queries
from exchange_ops.withdrawals import states as withdrawal_states
from exchange_ops.withdrawals.models import Withdrawal

MOST = 8
OVER_FOR = timedelta(days=1)  # what ended is shown among the requests for so long


def work(view: View) -> dict[str, Any]:
    """The first entries of "Needs action", read in the same way, so that both always agree."""
    wish = listing.Wish(scope=str(view.account.pk) if view.account else "")
    mine = listing.listing_for(view.person, wish, now=view.now).entries
    topics = dict.fromkeys(topic for source in entries.sources() for topic in source.topics().split())
    return {"mine": mine[:MOST], "more": len(mine[MOST:]), "topics": " ".join(topics)}


def deadlines(view: View) -> dict[str, Any]:
    """Reserved payouts by the time of their release, the next one first."""
    holds = list(_payouts(view).filter(state__in=queries.UNDER_WAY).order_by("approve_until", "pk")[: MOST + 1])
    ends = [row for row in holds if row.state == withdrawal_states.HELD and row.approve_until]
    return {
        "exchange_now": accounts.exchange_now(view.account, view.now),
        "next": ends[0] if ends else None,
        "holds": [row for row in holds if not ends or row != ends[0]][:MOST],
    }


def requests(view: View) -> dict[str, Any]:
    """An operator's own requests, for others everybody's: open ones first, then those of the last day."""
    is_own = rules.may_request(view.person)
    rows = _payouts(view).filter(Q(state__in=withdrawal_states.OPEN_STATES) | Q(updated_at__gte=view.now - OVER_FOR))
    if is_own:
        rows = rows.filter(initiator=view.person)
    payouts = list(queries.with_ends(rows).order_by("-pk")[: 3 * MOST])
    ordered = sorted(payouts, key=lambda row: row.state not in withdrawal_states.OPEN_STATES)[:MOST]
    waiting = list(incidents.of_scope(incidents.waiting_for(view.person), *view.scopes)[:MOST])
    return {
        "exchange_now": accounts.exchange_now(view.account, view.now),
        "is_own": is_own,
        "requests": [{"row": row, "steps": progress.steps(row)} for row in ordered],
        "transfers": _other_transfers(waiting, view.accounts),
    }


def _payouts(view: View) -> Any:
    return Withdrawal.objects.filter(account__in=view.accounts).select_related("initiator", "account")


def _other_transfers(open_incidents: list[Incident], mine: list[Account]) -> list[Transfer]:
    """Transfers that wait or whose outcome is unknown, the newest first, without those listed as an incident."""
    pages = {incident.url for incident in open_incidents}
    rows = workflow.newest().filter(account__in=mine, state__in=transfer_states.OPEN_STATES)[: MOST + len(pages)]
    return [row for row in rows if reverse("transfer", args=[row.pk]) not in pages][:MOST]
