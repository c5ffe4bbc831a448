"""What waits for approvals, as entries of the list of everything that waits: payouts, transfers to others, orders
beyond a limit.

Each is decided on its own page, never in bulk.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from django.db.models import Count, F, Q, QuerySet
from django.urls import reverse

from desk.actions.entries import MOST, NOBODY, Entry, Source
from desk.machines import table as machine_table
from desk.models import Person
from desk.people import roles
from exchange_ops.market.models import Symbol
from exchange_ops.orders import machine as order_states
from exchange_ops.orders.decisions import approvals as order_approvals
from exchange_ops.orders.models import Order
from exchange_ops.pages.requests import REQUESTS
from exchange_ops.policy import modes
from exchange_ops.shared import clocks, rules
from exchange_ops.shared.models import Account
from exchange_ops.transfers import approvals as transfer_approvals
from exchange_ops.transfers import machine as transfer_states
from exchange_ops.transfers.models import Transfer
from exchange_ops.transfers.views import briefing as transfer_briefing
from exchange_ops.withdrawals import machine, queries
from exchange_ops.withdrawals.decisions import approvals, briefing
from exchange_ops.withdrawals.models import Approval, Withdrawal
from exchange_ops.withdrawals.views import decisions

_ORDER_ENDS: Final = {order_states.DECLINED: "declined", order_states.WITHDRAWN: "withdrawn"}


def _waiting(person: Person, now: datetime) -> Sequence[Entry]:
    """Everything undecided, and what this person asked for that is under way."""
    undecided = list(_progressed(rules.seen_by(person, approvals.undecided())))
    mine = set(approvals.waiting_for(person).values_list("pk", flat=True))
    known = {row.pk for row in undecided}
    open_ones = rules.seen_by(person, Withdrawal.objects.filter(initiator=person, state__in=machine.OPEN_STATES))
    own = open_ones.order_by("-pk")
    followed = [row for row in _progressed(own.select_related("account", "initiator")) if row.pk not in known]
    hours = {account.pk: clocks.exchange_now(account=account, now=now) for account in _accounts(undecided + followed)}
    briefings = briefing.of(undecided)
    found = [_payout(row, person, hours[row.account_id], briefings.get(row.pk)) for row in undecided + followed]
    for entry in found:
        _say_whose(entry, person, mine=mine, undecided=known)
    return _placed(found + _transfers(person) + _orders(person, now))


def _placed(found: list[Entry]) -> list[Entry]:
    if Account.objects.count() > 1:
        for entry in found:
            entry.place = entry.row.account.name
    return found


def _transfers(person: Person) -> list[Entry]:
    undecided = list(_with_counts(rules.seen_by(person, transfer_approvals.undecided()))[:MOST])
    mine = set(transfer_approvals.waiting_for(person).values_list("pk", flat=True))
    known = {row.pk for row in undecided}
    own = Transfer.objects.filter(initiator=person, state__in=transfer_states.OPEN_STATES).exclude(pk__in=known)
    followed = list(_with_counts(rules.seen_by(person, own).order_by("-pk"))[:MOST])
    briefings = transfer_briefing.of(undecided)
    found = [_transfer(row, person, briefings.get(row.pk)) for row in undecided + followed]
    for entry in found:
        _say_whose(entry, person, mine=mine, undecided=known)
    return found


def _orders(person: Person, now: datetime) -> list[Entry]:
    waiting = order_approvals.undecided()
    mine = set(order_approvals.waiting_for(person).values_list("pk", flat=True))
    rows = _with_symbols(rules.seen_by(person, waiting)[:MOST])
    found = [_order(row, person, now) for row in rows]
    for entry in found:
        _say_whose(entry, person, mine=mine, undecided={row.pk for row in rows})
    return found


def _say_whose(entry: Entry, person: Person, *, mine: set[int], undecided: set[int]) -> None:
    entry.mine, entry.is_followed = entry.row.pk in mine, entry.row.pk not in undecided
    # Of what waits for treasury only one's own requests and what one approved already don't wait for one.
    entry.decided = person.has_role(roles.TREASURY) and not (entry.mine or entry.is_followed or entry.own)
    if entry.is_followed:
        entry.progress = ""


def _done(person: Person, now: datetime) -> Sequence[Entry]:
    rows = Withdrawal.objects.exclude(decision=machine_table.NONE).select_related("account", "initiator", "decided_by")
    payouts = list(queries.with_ends(rules.seen_by(person, rows).order_by(F("decided_at").desc(), "-pk"))[:MOST])
    decided = Transfer.objects.filter(approvals__stage="review", decided_at__isnull=False).distinct()
    moved = list(_with_counts(rules.seen_by(person, decided).order_by(F("decided_at").desc(), "-pk"))[:MOST])
    judged = Order.objects.filter(decided_at__isnull=False).select_related("account", "initiator", "decided_by")
    placed = _with_symbols(rules.seen_by(person, judged.order_by(F("decided_at").desc(), "-pk"))[:MOST])
    found = [_payout(row, person, now, None) for row in payouts] + [_transfer(row, person, None) for row in moved]
    found += [_order(row, person, now) for row in placed]
    for entry in found:
        entry.done_at, entry.deadline = entry.row.decided_at, None
        entry.outcome, entry.done_by = _outcome(entry.row), str(entry.row.decided_by or NOBODY)
    return found


def _outcome(row: Any) -> str:
    if isinstance(row, Order):
        return _ORDER_ENDS.get(row.state, "approved")
    if isinstance(row, Transfer):
        return "rejected" if row.state == transfer_states.REJECTED else "approved"
    if row.decision == machine.COMMIT:
        return "approved"
    return row.end.label.lower() if row.end else "stopped"


def _count(person: Person, scope: str) -> int:
    mine = {"account": int(scope)} if scope else {}
    rooms = (approvals, transfer_approvals, order_approvals)
    return sum(room.waiting_for(person).filter(**mine).count() for room in rooms)


def _whose(people: Sequence[Person]) -> Iterator[tuple[Person, tuple[str, str]]]:
    for read in (approvals.waiting_for_each, transfer_approvals.waiting_for_each, order_approvals.waiting_for_each):
        for person, rows in read(people):
            for row in rows:
                yield person, (row.subject, row.state)


def _payout(row: Any, person: Person, hour: datetime, known: briefing.Briefing | None) -> Entry:
    row.briefing = known
    return Entry(
        subject=row.subject,
        reference=row.reference,
        title="Final release" if _is_final(row) else "Payout",
        sentence=row.sentence,
        url=reverse("withdrawal", args=[row.pk]),
        since=row.created_at,
        tone=row.tone,
        label=row.label,
        icon=row.end.sign if row.end else machine.STATES[row.state].icon,
        deadline=row.approve_until if row.state == machine.HELD else None,
        clock=hour,
        by_exchange=True,
        own=row.initiator_id == person.pk,
        who=roles.TREASURY,
        row=row,
        template="exchange_ops/action/_payout.html",
        progress=getattr(row, "progress", ""),
        phase=row.state,
        scope=str(row.account_id),
    )


def _is_final(row: Withdrawal) -> bool:
    return row.state == machine.HELD and row.mode == modes.APPROVE_THEN_HOLD


def _transfer(row: Any, person: Person, known: transfer_briefing.Briefing | None) -> Entry:
    state, row.briefing = transfer_states.STATES[row.state], known
    return Entry(
        subject=row.subject,
        reference=row.reference,
        title="Transfer",
        sentence=row.sentence,
        url=reverse("transfer", args=[row.pk]),
        since=row.created_at,
        tone=state.tone,
        label=row.label,
        icon=state.icon,
        own=row.initiator_id == person.pk,
        who=roles.TREASURY,
        row=row,
        template="exchange_ops/action/_transfer.html",
        progress=f"{row.approved_count} of {row.quorum_required} approved" if row.quorum_required else "",
        phase=row.state,
        scope=str(row.account_id),
    )


def _order(row: Order, person: Person, now: datetime) -> Entry:
    return Entry(
        subject=row.subject,
        reference=row.reference,
        title="Order",
        sentence=row.sentence,
        url=reverse("order", args=[row.pk]),
        since=row.created_at,
        tone=row.tone,
        label=row.label,
        icon=order_states.STATES[row.state].icon,
        deadline=row.approve_until if row.state == order_states.WAITING else None,
        clock=now,
        own=row.initiator_id == person.pk,
        who=roles.TREASURY,
        row=row,
        template="exchange_ops/action/_order.html",
        phase=row.state,
        scope=str(row.account_id),
    )


def _with_symbols(rows: Iterable[Order]) -> list[Any]:
    """The orders, each with its symbol as it is listed, for the words of what was asked for."""
    found: list[Any] = list(rows)
    symbols = Symbol.objects.in_bulk({row.symbol for row in found})
    for row in found:
        row.listed = symbols.get(row.symbol)
    return found


def _accounts(rows: Iterable[Withdrawal]) -> list[Account]:
    return list({row.account_id: row.account for row in rows}.values())


def _progressed(rows: QuerySet[Withdrawal]) -> list[Any]:
    """The rows with how they ended and how far the approvals of each stage are."""
    said = Q(approvals__digest=F("digest"), approvals__verdict="approve")
    counts = {
        name: Count("approvals__person", filter=said & Q(approvals__stage=stage), distinct=True)
        for name, stage in (("reviewed", Approval.REVIEW), ("released", Approval.RELEASE))
    }
    found: list[Any] = list(queries.with_ends(rows.select_related("decided_by", "account")).annotate(**counts)[:MOST])
    for row in found:
        row.progress = decisions.progress(row, reviewed=row.reviewed, released=row.released)
    return found


def _with_counts(rows: QuerySet[Any]) -> Any:
    """With how many people approved the digest that is on the row now."""
    of_this = Q(approvals__digest=F("digest"), approvals__verdict="approve")
    approved_count = Count("approvals__person", filter=of_this, distinct=True)
    return rows.select_related("initiator", "decided_by", "account").annotate(approved_count=approved_count)


def _page_of(name: str, model: Any) -> Any:
    def page(person: Person, number: int) -> str:
        there = rules.may_see(person) and rules.seen_by(person, model.objects.filter(pk=number)).exists()
        return reverse(name, args=[number]) if there else ""

    return page


SOURCE: Final = Source(
    name="approvals",
    label="Approvals",
    waiting=_waiting,
    done=_done,
    count=_count,
    subjects={
        Withdrawal.name: _page_of("withdrawal", Withdrawal),
        Transfer.name: _page_of("transfer", Transfer),
        Order.name: _page_of("order", Order),
    },
    topics="withdrawals transfers orders approvals freezes",
    empty="Nothing waits for your decision. A request appears here as soon as the money is reserved, "
    "or when the rules ask for approvals before that.",
    acts=(roles.TREASURY,),
    requests=REQUESTS,
    whose=_whose,
)
