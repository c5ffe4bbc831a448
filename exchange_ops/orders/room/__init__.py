"""What orders and brackets declare to the desk: checks, incidents, approvals, search, tables, addresses."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse

from desk import clock, rooms
from desk.actions.approvals import Approvals
from desk.incidents.kinds import Cause, Kind, Severity
from desk.machines.replay import Replay
from desk.rooms import Check, Health
from desk.rows.retention import Retention
from desk.rows.witnessed import Table
from desk.web.search import Command, Hit, Scope, Search, newest, plain, referenced
from exchange_ops.market.room import searches as markets
from exchange_ops.orders import machine, states, stream, workflow
from exchange_ops.orders.brackets import machine as bracket_machine
from exchange_ops.orders.brackets import plan, situation
from exchange_ops.orders.brackets import states as bracket_states
from exchange_ops.orders.brackets.models import Bracket, BracketEvent, BracketLeg
from exchange_ops.orders.decisions import approvals
from exchange_ops.orders.forms import orders_named
from exchange_ops.orders.models import AccountTrade, FeeRates, Order, OrderApproval, OrderCall, OrderEvent
from exchange_ops.orders.room import restore, waiting
from exchange_ops.orders.room.trail import WORDS
from exchange_ops.orders.views import fill_notices, selection
from exchange_ops.policy.vote_replay import COUNTED, Votes
from exchange_ops.shared import alarms, heartbeats, rules
from exchange_ops.shared.declarations import ages, causes, reasons, topics
from exchange_ops.shared.models import Account


def _votes() -> Votes:
    purposes = dict.fromkeys((*COUNTED, OrderApproval.REVIEW), approvals.PURPOSE)
    return Votes("O", OrderApproval, "order_id", purposes)


# An order that was placed elsewhere is known from the streams, and in the trail once somebody here cancels it.
REPLAY: Final = Replay(machine.MACHINE, enter_late=True, votes=_votes)
BRACKET_REPLAY: Final = Replay(bracket_machine.MACHINE)
_OUT_OF_SIGHT: Final = (states.UNKNOWN, states.NOT_SEEN)


def _check() -> Health:
    """How long the oldest order that is due has been waiting for a worker, and how old the lists are."""
    now = clock.now()
    due = workflow.due(now=now).order_by("next_action_at").values_list("next_action_at", flat=True).first()
    age = ages.age(due, now) or timedelta(0)
    sentences = ["No orders queued."]
    if due is not None:
        sentences = [f"The oldest order has been queued for {ages.spoken(age)}."]
    for account in Account.objects.order_by("pk"):
        row = heartbeats.state_of(workflow.name_of(account))
        read = ages.age(row.heard_at if row else None, now)
        lists = "Order lists not synced yet." if read is None else f"Order lists synced {ages.spoken(read)} ago."
        sentences += [lists, *([row.problem] if row is not None and row.problem else [])]
        sentences.append(ages.liveness(stream.name_of(account), "Order updates", now))
    return Health(ok=age <= ages.DUE_AGE, sentence=" ".join(sentences), age_s=age.total_seconds())


def _trade(text: str, scope: Scope) -> Iterator[Hit]:
    """ "buy btc", "sell btc", "trade btc": straight to a ticket with symbol and side."""
    named = markets.verb_and_code(text, "buy", "sell", "trade")
    if named is None or not rules.may_trade(scope.person):
        return
    verb, code = named
    for row in markets.symbols_of(code, scope):
        side = {} if verb == "trade" else {"side": verb}
        url = f"{reverse('market', args=[row.code])}?{urlencode(side)}".rstrip("?")
        yield Hit(
            "Actions", f"{verb.capitalize()} {row.code}", f"{row.base_currency} / {row.quote_currency}", url, "plus"
        )


def _search(text: str, scope: Scope) -> Iterator[Hit]:
    """Orders by reference or id, brackets by reference."""
    for row in newest(Order, orders_named(text), Q(), scope):
        words = f"{row.side.capitalize()} {plain(row.quantity)} {row.symbol}"
        yield Hit("Orders", row.reference, words, reverse("order", args=[row.pk]), "file-check")
    for bracket in newest(Bracket, referenced(Bracket.mark, text), Q(), scope):
        words = f"{bracket.side.capitalize()} {bracket.symbol}, {bracket.label.lower()}"
        yield Hit("Orders", bracket.reference, words, reverse("bracket", args=[bracket.pk]), "shield-check")


def _without_a_stop(now: datetime, only: str) -> Iterator[Cause]:
    """Brackets whose entry opened something that no stop guards, or was filled after the bracket had ended unfilled.

    `only` names one cause; empty for all of them.
    """
    late = Q(entry__cum_quantity__gt=0) | Q(entry__replacements__cum_quantity__gt=0)
    ended = Q(state=bracket_states.CLOSED, outcome=bracket_states.NOT_ENTERED) & late
    for row in _selected(Bracket.objects.filter(Q(state=bracket_states.UNGUARDED) | ended).distinct(), only):
        why = row.last_problem or f"The entry {row.entry.reference} filled after the bracket had ended."
        sentence = (
            f"{row.reference}: the position from a {row.side} entry in {row.symbol} has no working stop. "
            f"{why} An operator can place the stop again, or close the position manually."
        )
        yield _cause(row, sentence)


def _unclear(now: datetime, only: str) -> Iterator[Cause]:
    """Brackets with an order that may be at the exchange unseen, so that nobody knows what it opens or closes.

    One that has no stop for that reason is left to `_without_a_stop`. `only` names one cause; empty for all of them.
    """
    missing = Order.objects.filter(account=OuterRef("account"), symbol=OuterRef("symbol"), state__in=_OUT_OF_SIGHT)
    rows = Bracket.objects.filter(Exists(missing), state__in=bracket_states.WATCHED)
    for row in _selected(rows.exclude(state=bracket_states.UNGUARDED), only):
        if reasons := plan.unclear(situation.current(row, now=now)):
            yield _cause(
                row,
                (
                    f"{row.reference}, {row.symbol}: {reasons} An operator can check the exchange's orders and end "
                    "the bracket."
                ),
            )


def _selected(rows: QuerySet[Bracket], only: str) -> QuerySet[Bracket]:
    named = rows.filter(pk=only.rpartition(":")[2]) if only else rows
    return named.select_related("account", "entry").order_by("pk")


def _cause(row: Bracket, sentence: str) -> Cause:
    return Cause(row.subject, sentence, "bracket", str(row.pk), str(row.account_id))


ROOM: Final = rooms.Room(
    paths={"order_id": (Order, "pk", "account_id"), "bracket_id": (Bracket, "pk", "account_id")},
    topics={"order": topics.row(Order), "bracket": topics.row(Bracket), machine.TOPIC: topics.desk_wide},
    checks={"orders": Check(_check, order=100, incident=alarms.WORK_STALLED)},
    incidents=(
        Kind(
            alarms.WITHOUT_A_STOP,
            "Position without a stop",
            Severity.HIGH,
            causes.TRADERS,
            _without_a_stop,
            by_two=True,
            ends="Resolves once the stop is on the exchange or the bracket is ended.",
        ),
        Kind(
            alarms.BRACKET_UNCLEAR,
            "Bracket order not found",
            Severity.HIGH,
            causes.TRADERS,
            _unclear,
            by_two=True,
            ends="Resolves once the order is found on the exchange or confirmed absent, or the bracket is ended.",
        ),
    ),
    approvals=(
        Approvals(
            model=Order,
            page="order",
            topic=machine.TOPIC,
            also=("freezes",),
            undecided=waiting.undecided,
            done=waiting.done,
            waiting=approvals.waiting,
            visible_to=waiting.visible,
            ended=waiting.ended,
            news=waiting.news,
        ),
    ),
    selectable=(selection.SELECTABLE,),
    open_work=waiting.open_work,
    waiting=(restore.ORDERS.source, restore.BRACKETS.source),
    outside=restore.placed_elsewhere,
    not_read_yet=restore.not_read_yet,
    trail=WORDS,
    replays={REPLAY.subject: REPLAY.check, BRACKET_REPLAY.subject: BRACKET_REPLAY.check},
    guards={"orders": machine.GUARDS.statements, "brackets": bracket_machine.GUARDS.statements},
    tables=(
        Table(Order, Order.table.loose),
        Table(OrderEvent),
        Table(OrderCall),
        Table(OrderApproval),
        Table(AccountTrade),
        Table(Bracket, Bracket.table.loose),
        Table(BracketEvent),
        Table(BracketLeg),
    ),
    idle_tables={
        **dict.fromkeys(("exchange_ops.feerates", "exchange_ops.orderreading"), reasons.QUESTION),
        "exchange_ops.orderamount": "what a quantity was computed from; the order itself has the quantity",
    },
    retention=(Retention(FeeRates, "requested_at", lambda: timedelta(days=settings.ANSWERS_KEPT_DAYS)),),
    browser_kinds=(fill_notices.KIND,),
    searches=(Search(_trade, 32), Search(_search, 60)),
    commands=(Command("New order", "order-new", "plus", rules.may_trade, 20),),
    tasks="exchange_ops.orders.tasks",
    urls="exchange_ops.orders.room.urls",
)
