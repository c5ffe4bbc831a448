"""Replacing an open order by one of another price or quantity, in one call: what was filled stays filled.

The replacing order is a row of its own, with an id that is known before anything leaves: like every order it is placed
once, and looked for when its answer is lost. The old one waits in `replacing` until the outcome is known; then its end
is read. An order on margin can be replaced over the trading socket only, because REST has no call for it. Source:
exchange REST, Spot orders; exchange streams, Margin trading; supplement 1.4, 2.7.
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction

from desk import clock
from desk.machines.requests import LONGEST_KEY, Once
from exchange_ops.client.sightings import ABSENT_AFTER
from exchange_ops.keys import clients, store
from exchange_ops.keys.clients import ClientFor
from exchange_ops.market.models import Symbol
from exchange_ops.orders import client_order_ids, machine, policy_checks, request_checks, states
from exchange_ops.orders import records as order_records
from exchange_ops.orders.brackets import machine as bracket_machine
from exchange_ops.orders.brackets import situation
from exchange_ops.orders.models import Order
from exchange_ops.orders.request_checks import FORM, OrderRequest
from exchange_ops.orders.steps import trading_line
from exchange_ops.policy import freezes
from exchange_ops.policy.oversteps import Overstep
from exchange_ops.shared import rules
from exchange_ops.wire import records
from exchange_ops.wire.catalogue import Right
from wire.errors import CallFailed
from wire.values import grouped_text

if TYPE_CHECKING:
    from desk.models import Person

LOOK_AGAIN: Final = timedelta(seconds=2)  # while the replacing order is on its way
READ_AGAIN: Final = timedelta(seconds=3)  # until the history says how the old one ended
NOT_READ: Final = "Replaced; the quantity filled before the replacement is unknown."
ON_MARGIN: Final = (
    "Not replaced: a margin order can be replaced only over the trading stream, which is disconnected. Cancel "
    "it and place a new order."
)


class CannotReplace(Exception):
    """Nothing was requested; `problems` names the field (or "__all__") and says why, one sentence each."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


def ask(
    *,
    order_id: int,
    person: "Person",
    quantity: Decimal,
    price: Decimal | None,
    request_key: str,
    now: datetime,
    confirmed: Collection[str] = (),
    session_key: str = "",
) -> Order:
    """Have an open order replaced; gives the replacing order, which a worker sends. Raises CannotReplace.

    `quantity`, in the base currency, includes what was filled. `price` is in the quote currency.
    `confirmed` are the tokens of the oversteps that the person confirmed by name.
    """
    once = Once(
        Order.objects.filter(initiator=person, request_key=request_key),
        is_same=lambda row: (row.replaces_id, row.quantity, row.price) == (order_id, quantity, price),
        refusal=_sent_before,
    )
    if (earlier := once.earlier()) is not None:
        return earlier
    if not 0 < len(request_key) <= LONGEST_KEY:
        raise CannotReplace({FORM: "This form is incomplete. Reload the page and try again."})
    old = replaceable(order_id, person)
    requested = changed_request(old, quantity=quantity, price=price)
    if sentences := problems(old, requested, person=person, now=now):
        raise CannotReplace(sentences)
    try:
        stored_oversteps = policy_checks.settle(
            find_oversteps(old, requested, person=person, now=now), confirmed=confirmed
        )
    except policy_checks.NotConfirmed as missing:
        raise CannotReplace(missing.problems) from None
    new = Order(
        oversteps=stored_oversteps,
        account=old.account,
        initiator=person,
        request_key=request_key,
        client_order_id=client_order_ids.fresh_id(),
        replaces=old,
        **{name: getattr(requested, name) for name in OrderRequest.__dataclass_fields__},
    )
    return once.store(lambda: _begin(old, new, person=person, now=now, session_key=session_key))


def _sent_before(row: Order) -> CannotReplace:
    return CannotReplace({FORM: f"This form was already submitted with different content, as {row.reference}."})


def replaceable(order_id: int, person: "Person") -> Order:
    """The order, when this person may have it replaced now. Raises CannotReplace."""
    row = Order.objects.select_related("account", "initiator").filter(pk=order_id).first()
    if row is None:
        raise CannotReplace({FORM: "Order not found."})
    if not rules.may_trade(person, row.account_id):
        raise CannotReplace({FORM: "Only operators can replace orders."})
    if row.state not in states.AT_EXCHANGE or not row.active:
        raise CannotReplace({FORM: f"This order can't be replaced. Status: {states.state_of(row)}."})
    if row.margin and not trading_line.is_live(row.account):
        raise CannotReplace({FORM: ON_MARGIN})
    return row


def changed_request(old: Order, *, quantity: Decimal, price: Decimal | None) -> OrderRequest:
    """The request for the replacing order: the old one's terms with another quantity or price."""
    return replace(request_checks.request_of(old), quantity=quantity, price=price)


def problems(old: Order, requested: OrderRequest, *, person: "Person", now: datetime) -> dict[str, str]:
    """Everything against the replacing order, by field: its terms, the funds, and the current rules.

    When the exchange can't place it, it cancels the old one all the same, so the funds are checked first.
    """
    symbol = Symbol.objects.filter(pk=old.symbol).first()
    if symbol is None:
        return {FORM: "The exchange does not list this symbol."}
    if (requested.quantity, requested.price) == (old.quantity, old.price):
        return {FORM: "Enter a different price or quantity."}
    if requested.quantity <= old.cum_quantity:
        return {"quantity": f"{old.cum_quantity.normalize():f} already filled: enter a larger total quantity."}
    if reason := _beyond_bracket(old, requested.quantity, now):
        return {"quantity": reason}
    sentences = request_checks.problems(
        account=old.account, symbol=symbol, requested=requested, now=now, instead_of=old
    )
    if problem := freezes.obstacle(old.movement):
        sentences[FORM] = f"{problem} Open orders can still be cancelled."
    if sentences:
        return sentences
    return policy_checks.problems(initiator=person, account=old.account, symbol=symbol, requested=requested, now=now)


def _beyond_bracket(old: Order, quantity: Decimal, now: datetime) -> str:
    """Why an order of a bracket can't be so large: more would rest than is open. Else an empty text."""
    row = situation.bracket_of(old)
    most = None if row is None else situation.most_instead_of(row, old, now=now)
    if row is None or most is None or quantity <= most:
        return ""
    return f"Enter at most {grouped_text(most)}: the part of {row.reference}'s position that no other stop covers."


def find_oversteps(old: Order, requested: OrderRequest, *, person: "Person", now: datetime) -> list[Overstep]:
    """The bounds of the rules that the replacing order goes beyond; it does not count as one more open order.

    Nobody can approve it: the old one would go on while that waited.
    """
    symbol = Symbol.objects.get(pk=old.symbol)
    return policy_checks.find_oversteps(
        initiator=person, account=old.account, symbol=symbol, requested=requested, now=now, is_new=False
    )


def _begin(old: Order, new: Order, *, person: "Person", now: datetime, session_key: str) -> Order:
    """Write both rows in one transaction: the new order requested, the old one waiting for it."""
    try:
        with transaction.atomic():
            _check_bracket(old, new.quantity, now)
            locked = machine.lock(old.pk)
            if (locked.state, locked.version) != (old.state, old.version):
                raise machine.CannotMove("The order has just changed.")
            machine.create(new, event="asked", now=now, actor=person, session_key=session_key)
            machine.move(
                locked,
                event="replace_asked",
                to=states.REPLACING,
                now=now,
                next_action_at=now + LOOK_AGAIN,
                actor=person,
                session_key=session_key,
                evidence={"by": new.reference, "quantity": new.quantity, "price": new.price},
            )
    except machine.CannotMove:
        raise CannotReplace({FORM: "The order has just changed. Refresh and try again."}) from None
    return new


def _check_bracket(old: Order, quantity: Decimal, now: datetime) -> None:
    """Check again under the lock of the bracket, which is taken before those of its orders, as everywhere."""
    if (row := situation.bracket_of(old)) is None:
        return
    bracket_machine.lock(row.pk)
    if reason := _beyond_bracket(old, quantity, now):
        raise CannotReplace({"quantity": reason})


def obstacle(row: Order) -> str:
    """Why a replacing order must not be sent any more, else an empty text."""
    if row.replaces_id is None:
        return ""
    old = Order.objects.get(pk=row.replaces_id)
    if old.state == states.REPLACING and old.active:
        return ""
    return f"{old.reference} was already closed and could not be replaced."


# What becomes of the old one ------------------------------------------------------------------------------------------


def settle(row: Order, *, now: datetime, answer: records.Order | None = None) -> None:
    """The outcome of the replacing order is known: have the old one looked at. `answer` is the exchange's record."""
    old = row.replaces
    if old is None:
        return
    if answer is not None and answer.client_order_id == old.client_order_id:
        order_records.store(account=old.account, orders=[answer], margin=old.margin, now=now)
    elif answer is not None:
        order_records.end_replaced(account=old.account, client_order_id=old.client_order_id, by=answer, now=now)
    old.refresh_from_db()
    if old.state == states.REPLACING and machine.touch(old, next_action_at=now):
        machine.MACHINE.announce(old, now)


def step(row: Order, *, now: datetime, client_for: ClientFor) -> None:
    """By the outcome of the replacing order, this one was replaced or stays as it was."""
    newer = Order.objects.filter(replaces=row).order_by("-pk").first()
    if newer is not None and newer.state in states.ON_THE_WAY:
        machine.touch(row, next_action_at=now + LOOK_AGAIN)
        return
    try:
        record = _read(row, client_for)
    except (CallFailed, store.NoUsableKey) as problem:
        reason = f"The request could not be sent to the exchange: {problem}"[:500]
        machine.touch(row, next_action_at=now + READ_AGAIN, last_problem=reason)
        return
    if newer is None or newer.exchange_id is None:
        _keep_unreplaced(row, newer, record, now)
    elif record is not None:
        _end_replaced(row, newer, now, **order_records.observed_columns(record, now=now))
    elif clock.has_passed(ABSENT_AFTER, since=newer.updated_at, now=now):
        _end_replaced(row, newer, now, status="canceled", active=False, last_problem=NOT_READ)
    else:
        machine.touch(row, next_action_at=now + READ_AGAIN)


def _read(row: Order, client_for: ClientFor) -> records.Order | None:
    """Its end as the history records it; None until the history has it."""
    with clients.client(client_for, account=row.account, right=Right.HISTORY) as history:
        listing = history.get_order_history(client_order_id=row.client_order_id)
    entries = [record for record in listing.records if record.id == row.exchange_id and record.status in states.ENDED]
    return entries[0] if entries and not order_records.unstorable(entries[0]) else None


def _end_replaced(row: Order, newer: Order, now: datetime, **columns: Any) -> None:
    evidence = {"by": newer.reference, "filled": columns.get("cum_quantity")}
    machine.move(
        row,
        event="replaced",
        to=states.PLACED,
        now=now,
        evidence=evidence,
        **({"last_problem": ""} | columns),
    )


def _keep_unreplaced(row: Order, newer: Order | None, record: records.Order | None, now: datetime) -> None:
    """It was not replaced: it is still open, or ended for another reason, and is read on like any order."""
    columns = {} if record is None else order_records.observed_columns(record, now=now)
    sentence = "" if newer is None else f"Not replaced by {newer.reference}. {newer.last_problem}"
    machine.move(
        row,
        event="replace_ended",
        to=states.PLACED,
        now=now,
        evidence={} if newer is None else {"by": newer.reference, "outcome": newer.state},
        **({"last_problem": sentence[:500]} | columns),
    )
