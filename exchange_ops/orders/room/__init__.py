"""Orders and brackets, as the desk knows them."""

from datetime import timedelta
from typing import Final

from django.conf import settings

from desk import rooms
from desk.actions.approvals import Approvals
from desk.incidents.kinds import Kind, Severity
from desk.machines.replay import Replay
from desk.rooms import Check
from desk.rows.retention import Retention
from desk.rows.witnessed import Table
from desk.web.search import Command, Search
from exchange_ops.orders import guards
from exchange_ops.orders.brackets import causes as bracket_causes
from exchange_ops.orders.brackets import guards as bracket_guards
from exchange_ops.orders.brackets.models import Bracket, BracketEvent, BracketLeg
from exchange_ops.orders.brackets.mover import MACHINE as BRACKETS
from exchange_ops.orders.decisions import approvals
from exchange_ops.orders.models import AccountTrade, FeeRates, Order, OrderApproval, OrderCall, OrderEvent
from exchange_ops.orders.mover import MACHINE, TOPIC
from exchange_ops.orders.room import restore, waiting
from exchange_ops.orders.room.checks import orders as check
from exchange_ops.orders.room.searches import orders as search
from exchange_ops.policy.vote_replay import COUNTED, Votes
from exchange_ops.shared import alarms, rules
from exchange_ops.shared.declarations import causes, reasons, topics


def _votes() -> Votes:
    purposes = dict.fromkeys((*COUNTED, OrderApproval.REVIEW), approvals.PURPOSE)
    return Votes("O", OrderApproval, "order_id", purposes)


# An order that was placed elsewhere is known from the streams, and in the trail once somebody here cancels it.
REPLAY: Final = Replay(MACHINE, enter_late=True, votes=_votes)
BRACKET_REPLAY: Final = Replay(BRACKETS)

ROOM: Final = rooms.Room(
    topics={"order": topics.row(Order), "bracket": topics.row(Bracket), TOPIC: topics.whole},
    checks={"orders": Check(check, order=100, incident=alarms.WORK_STALLED)},
    incidents=(
        Kind(
            alarms.WITHOUT_A_STOP,
            "Position without its stop",
            Severity.HIGH,
            causes.TRADERS,
            bracket_causes.without_a_stop,
            ends="It ends when its stop is at the exchange, or the bracket is ended.",
        ),
        Kind(
            alarms.BRACKET_UNCLEAR,
            "Order of a bracket not seen",
            Severity.HIGH,
            causes.TRADERS,
            bracket_causes.unclear,
            ends="It ends when the order is seen at the exchange or known not to be there, or the bracket is ended.",
        ),
    ),
    approvals=(
        Approvals(
            model=Order,
            page="order",
            topic=TOPIC,
            also=("freezes",),
            undecided=waiting.undecided,
            done=waiting.done,
            waiting_for=approvals.waiting_for,
            waiting_for_each=approvals.waiting_for_each,
            seen=waiting.seen,
            ended=waiting.ended,
            news=waiting.news,
        ),
    ),
    open_work=waiting.open_work,
    waiting=(restore.ORDERS.source, restore.BRACKETS.source),
    outside=restore.placed_elsewhere,
    replays={REPLAY.subject: REPLAY.check, BRACKET_REPLAY.subject: BRACKET_REPLAY.check},
    guards={"orders": guards.GUARDS.statements, "brackets": bracket_guards.GUARDS.statements},
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
    idle_tables=dict.fromkeys(("exchange_ops.feerates", "exchange_ops.orderreading"), reasons.QUESTION),
    retention=(Retention(FeeRates, "requested_at", lambda: timedelta(days=settings.ANSWERS_KEPT_DAYS)),),
    searches=(Search(search, 60),),
    commands=(Command("New order", "order-new", "plus", rules.may_trade, 20),),
    urls="exchange_ops.orders.room.urls",
)
