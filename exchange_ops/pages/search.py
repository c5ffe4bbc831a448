"""The search box and its page: the same search. Enter opens the first hit of the box, the page lists all of them."""

from collections.abc import Sequence
from typing import Any

from django.db.models import BooleanField, Case, When
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from chaindata.explorer import search
from chaindata.explorer.search import Place
from desk import clock
from desk.views.rendering import show
from desk.web import context
from desk.web import search as search_box
from desk.web.requests import DeskRequest
from exchange_ops.ledger.forms import entries_like
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.pages.forms import FindForm
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires
from exchange_ops.transfers.forms import transfers_like, transfers_named
from exchange_ops.transfers.models import Transfer
from exchange_ops.withdrawals import queries
from exchange_ops.withdrawals.forms import withdrawals_like, withdrawals_named
from exchange_ops.withdrawals.models import Withdrawal

MOST_ROWS = 25
PARTS = {"places": "exchange_ops/find/_places.html"}
OWN_SECTIONS = {"Withdrawals", "Transfers", "Ledger", "On the chain"}  # kinds that the page lists in full


@require_safe
@requires(rules.may_see)
def find(request: DeskRequest) -> HttpResponse:
    """The hits for the text; a single one is opened instead of listed, and for `first` the first one of the box."""
    form, mine, now = FindForm(request.GET), accounts.in_view(request), clock.now()
    text = form.cleaned_data["q"] if form.is_valid() else ""
    hits = {} if request.htmx else _box_hits(request, text)
    if "first" in request.GET and (hit := search_box.first(hits)):
        return redirect(hit.url)
    rows, entries = _withdrawals_and_entries(text, mine) if text else ([], [])
    transfers = _transfers(text, mine) if text else []
    chain_hits = search.find(text=text, now=now)
    others = {kind: of_kind for kind, of_kind in hits.items() if kind not in OWN_SECTIONS}
    only = None if request.htmx or others else _only([*rows, *transfers], entries, chain_hits.places)
    shared = {
        "find": text,
        "form": form,
        "now": now,
        "most": MOST_ROWS,
        "chain_hits": chain_hits,
        "hits_by_kind": others,
    }
    lists = {"rows": rows, "transfers": transfers, "entries": entries}
    return only or show(request, "exchange_ops/find.html", {**shared, **lists}, parts=PARTS)


@require_safe
@requires(rules.may_see)
def palette(request: DeskRequest) -> HttpResponse:
    """The first hits of each kind for the text typed so far."""
    form = FindForm(request.GET)
    text = form.cleaned_data["q"] if form.is_valid() else ""
    hits = _box_hits(request, text)
    return show(request, "exchange_ops/find/_palette.html", {"find": text, "hits_by_kind": hits})


def _box_hits(request: DeskRequest, text: str) -> dict[str, list[search_box.Hit]]:
    pages = context.navigation(request)
    scope = search_box.Scope(request.user, accounts.in_view(request), pages, clock.now())
    return search_box.hits(text=text, scope=scope)


def _only(rows: list[Any], entries: list[LedgerEntry], places: Sequence[Place]) -> HttpResponse | None:
    """The redirect to a single hit. A transaction of our own payout opens the payout, which links to it."""
    exact = [row for row in rows if row.named] or rows
    if len(exact) == 1 and not [entry for entry in entries if not _is_of(entry, exact[0])]:
        mine = exact[0].named and not any(place.is_certain and place.kind != search.TRANSACTION for place in places)
        if mine or not places:
            return redirect("transfer" if isinstance(exact[0], Transfer) else "withdrawal", exact[0].pk)
    if len(places) == 1 and not rows and not entries:
        return redirect(places[0].url)
    return None


def _is_of(entry: LedgerEntry, row: Withdrawal | Transfer) -> bool:
    """Whether the ledger entry belongs to this withdrawal or transfer."""
    return (entry.transfer_id if isinstance(row, Transfer) else entry.withdrawal_id) == row.pk


def _transfers(text: str, mine: list[Account]) -> list[Transfer]:
    """Transfers, exact matches first."""
    rows = Transfer.objects.filter(transfers_like(text), account__in=mine).select_related("initiator")
    named = Case(When(transfers_named(text), then=True), default=False, output_field=BooleanField())
    return list(rows.annotate(named=named).order_by("-named", "-pk")[:MOST_ROWS])


def _withdrawals_and_entries(text: str, mine: list[Account]) -> tuple[list[Withdrawal], list[LedgerEntry]]:
    """Withdrawals, exact matches first, and ledger entries."""
    withdrawals = Withdrawal.objects.filter(withdrawals_like(text), account__in=mine).select_related("initiator")
    rows = queries.with_ends(withdrawals)
    named = Case(When(withdrawals_named(text), then=True), default=False, output_field=BooleanField())
    entries = LedgerEntry.objects.filter(entries_like(text), account__in=mine).select_related("withdrawal")
    return (
        list(rows.annotate(named=named).order_by("-named", "-pk")[:MOST_ROWS]),
        list(entries.order_by("-index")[:MOST_ROWS]),
    )
