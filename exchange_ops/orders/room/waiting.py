"""Orders that wait for an approval and how they ended, for the list of what waits and for their requesters."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db.models import F, QuerySet
from django.urls import reverse

from desk.actions.entries import MOST, Entry
from desk.people import roles
from desk.rooms import OpenWord
from desk.templatetags.desk import plain
from exchange_ops.market.models import Symbol
from exchange_ops.orders import states
from exchange_ops.orders.brackets import states as bracket_states
from exchange_ops.orders.brackets.models import Bracket
from exchange_ops.orders.decisions import approvals
from exchange_ops.orders.models import Order
from exchange_ops.shared import rules

if TYPE_CHECKING:
    from desk.models import Person

_OUTCOMES: Final = {states.DECLINED: "declined", states.WITHDRAWN: "withdrawn"}
# An order that was most likely not placed is somebody's turn, and its requester hears of it too.
_ENDS: Final = (*(name for name in states.TABLE.over if name != states.WITHDRAWN), states.NOT_SEEN)


def visible(person: "Person") -> QuerySet[Order]:
    """The orders that this person may see."""
    return rules.seen_by(person, Order.objects.all())


def undecided(person: "Person", now: datetime) -> list[Entry]:
    """Everything that waits for an approval."""
    rows = _with_symbols(rules.seen_by(person, approvals.undecided())[:MOST])
    return [_entry(row, person, now) for row in rows]


def done(person: "Person", now: datetime) -> list[Entry]:
    """Those that were decided last."""
    judged = Order.objects.filter(decided_at__isnull=False).select_related(
        "account", "initiator", "decided_by", "bracket"
    )
    entries = []
    for row in _with_symbols(rules.seen_by(person, judged.order_by(F("decided_at").desc(), "-pk"))[:MOST]):
        entry = _entry(row, person, now)
        entry.outcome = _OUTCOMES.get(row.state, "approved")
        entries.append(entry)
    return entries


def ended(since: datetime) -> QuerySet[Order]:
    """Orders that needed approvals and are over, written since then."""
    return Order.objects.filter(state__in=_ENDS, updated_at__gt=since).exclude(digest="")


def news(numbers: Collection[int]) -> Iterator[tuple[int, Entry]]:
    """How they ended, for their requesters, with who declined it and why, or the refusal."""
    for row in Order.objects.filter(pk__in=numbers):
        if row.initiator_id is None:
            continue  # placed elsewhere
        entry = Entry.of_request(row, title="Order", icon=states.STATES[row.state].icon)
        entry.sentence = f"{entry.sentence} {row.last_problem}".strip()
        entry.outcome = _OUTCOMES.get(row.state, entry.outcome)
        yield row.initiator_id, entry


def open_work(person: "Person") -> Iterator[OpenWord]:
    """Brackets that are watched: the desk places and cancels their exits in this person's name."""
    for row in Bracket.objects.filter(initiator=person, state__in=bracket_states.WATCHED).order_by("pk"):
        exits = f"stop at {plain(row.stop_price)}, take profit at {plain(row.take_price)}"
        sentence = f"Bracket on a {row.side} order in {row.symbol}, {exits}; {row.label.lower()}"
        yield OpenWord(row.reference, reverse("bracket", args=[row.pk]), sentence)


def _entry(row: Order, person: "Person", now: datetime) -> Entry:
    return Entry(
        subject=row.subject,
        reference=row.reference,
        title="Order",
        sentence=row.sentence,
        url=reverse("order", args=[row.pk]),
        since=row.created_at,
        tone=row.tone,
        label=row.label,
        icon=states.STATES[row.state].icon,
        deadline=row.approve_until if row.state == states.WAITING else None,
        clock=now,
        own=row.initiator_id == person.pk,
        who=roles.TREASURY,
        row=row,
        template="exchange_ops/action/_order.html",
        phase=row.state,
        lapse="the order is not placed and the request expires",
        facts={"what": f"{row.side} {plain(row.quantity)} {row.symbol}"},
        scope=str(row.account_id),
    )


def _with_symbols(rows: Iterable[Order]) -> list[Any]:
    """The orders, each with its symbol attached as `listed`, for the sentence that describes it."""
    orders: list[Any] = list(rows)
    symbols = Symbol.objects.in_bulk({row.symbol for row in orders})
    for row in orders:
        row.listed = symbols.get(row.symbol)
    return orders
