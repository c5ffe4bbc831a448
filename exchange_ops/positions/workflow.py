"""Margin accounts and positions from the outside: ask for an action, do its next step, do what is due, note a result.

The row is the queue, as with orders. When several positions are closed together, each is an action with its own call:
so each has its own outcome, a thin book of one keeps no other open, and nothing is closed that nobody saw. The
exchange's single call for all (supplement 2.7) would close whatever is there.
"""

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from django.db import IntegrityError, transaction

from desk.fields import plain
from desk.machines.queue import Queue, Step
from desk.machines.requests import LONGEST_KEY, Once
from exchange_ops.margin.models import MarginPosition
from exchange_ops.policy import oversteps as bounds
from exchange_ops.policy.oversteps import Overstep
from exchange_ops.positions import estimates, machine, outcome_lookup, request_checks, sending, states
from exchange_ops.positions.models import MarginAction
from exchange_ops.positions.request_checks import CannotAct, MarginCopies, NotConfirmed, Wish
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.problems import FORM

if TYPE_CHECKING:
    from desk.models import Person

__all__ = ["CannotAct", "NotConfirmed", "Wish", "act", "advance", "close_all", "due", "settle", "sweep"]

STEPS: Final[dict[str, Step]] = {
    states.REQUESTED: sending.step,
    states.SENDING: sending.lease_expired,
    states.CHECKING: outcome_lookup.step,
    states.UNKNOWN: outcome_lookup.step,
}
QUEUE: Final = Queue(
    machine.MACHINE,
    STEPS,
    urgency=(states.REQUESTED, states.CHECKING, states.UNKNOWN),
    read_with=("account", "initiator"),
    lane=("account_id", "state"),
    after_failure=timedelta(seconds=15),
)
advance, look, sweep, due = QUEUE.advance, QUEUE.look, QUEUE.sweep, QUEUE.due
ID_PREFIX = "cm-"
LONGEST_NOTE = 500
STALE = "Not sent: the positions changed after you opened the page. Review them, then decide."
_TYPED = ("kind", "symbol", "amount", "order_type", "price", "position_id")


def act(
    *,
    initiator: "Person",
    account: Account,
    wish: Wish,
    request_key: str,
    now: datetime,
    confirmed: Collection[str] = (),
    via: str = "page",
    session_key: str = "",
) -> MarginAction:
    """Take an action. The same `request_key` of the same person gives the same row, however often it is sent.

    Nothing is sent here: a worker does that. `confirmed` are the tokens of the oversteps that the person confirmed by
    name. Raises CannotAct with a sentence for each field, or NotConfirmed with what has to be confirmed first.
    """
    rows = MarginAction.objects.filter(initiator=initiator, request_key=request_key, symbol=wish.symbol)
    once = Once(rows, is_same=lambda row: _is_same(row, wish), refusal=_sent_before)
    if (earlier := once.earlier()) is not None:
        return earlier
    if (other := MarginAction.objects.filter(initiator=initiator, request_key=request_key).first()) is not None:
        raise _sent_before(other)
    row, missing = _check(initiator, account, wish, request_key=request_key, now=now, confirmed=confirmed)
    if missing:
        raise NotConfirmed(missing)
    row.initiated_via = via
    try:
        return once.store(lambda: machine.create(row, event="asked", now=now, actor=initiator, session_key=session_key))
    except IntegrityError:
        raise CannotAct(
            {FORM: f"Not sent: another action for {wish.symbol} was just recorded. Refresh and try again."}
        ) from None


def close_all(
    *,
    initiator: "Person",
    account: Account,
    positions: Sequence[tuple[str, int, Decimal]],
    request_key: str,
    now: datetime,
    confirmed: Mapping[str, Collection[str]] | None = None,
    session_key: str = "",
) -> list[MarginAction]:
    """Close at the market every position that the person saw: symbol, the exchange's number, signed quantity.

    All of them are recorded, or none. `confirmed` are by symbol the tokens of what was confirmed. Raises CannotAct when
    what is open is not what was seen, or NotConfirmed.
    """
    earlier = list(MarginAction.objects.filter(initiator=initiator, request_key=request_key).order_by("symbol"))
    wishes = [
        Wish(kind=states.CLOSE, symbol=code, order_type=states.MARKET, position_id=one) for code, one, _ in positions
    ]
    if earlier:
        if len(earlier) == len(wishes) and all(_is_same(*pair) for pair in zip(earlier, _sorted(wishes), strict=True)):
            return earlier
        raise _sent_before(earlier[0])
    open_now = MarginPosition.objects.filter(account=account, gone_at=None).exclude(quantity=0)
    if not wishes or {(row.symbol, row.exchange_id, plain(row.quantity)) for row in open_now} != {
        (code, one, plain(quantity)) for code, one, quantity in positions
    }:
        raise CannotAct({FORM: STALE})
    tokens = confirmed or {}
    drafts = [
        _check(initiator, account, one, request_key=request_key, now=now, confirmed=tokens.get(one.symbol, ()))
        for one in _sorted(wishes)
    ]
    if missing := [of_symbol(one, row.symbol) for row, several in drafts for one in several]:
        raise NotConfirmed(missing)
    rows = [row for row, _ in drafts]
    try:
        with transaction.atomic():
            return [
                machine.create(row, event="asked", now=now, actor=initiator, session_key=session_key) for row in rows
            ]
    except IntegrityError:
        raise CannotAct(
            {FORM: "Not sent: another action for one of the positions was just recorded. Refresh and try again."}
        ) from None


def of_symbol(overstep: Overstep, symbol: str) -> Overstep:
    """The overstep with the symbol in its sentence, where several are judged together."""
    return replace(overstep, sentence=f"{symbol}: {overstep.sentence}")


def is_recorded(*, initiator: "Person", request_key: str) -> bool:
    """Whether this form became an action before."""
    return MarginAction.objects.filter(initiator=initiator, request_key=request_key).exists()


def settle(*, action_id: int, person: "Person", note: str, now: datetime, session_key: str = "") -> MarginAction:
    """Note what an unclear action did, by somebody who compared the exchange's records. Raises CannotAct."""
    note = note.strip()
    if not note or len(note) > LONGEST_NOTE:
        raise CannotAct({"note": f"Enter the result, up to {LONGEST_NOTE} characters."})
    row = MarginAction.objects.select_related("account").filter(pk=action_id).first()
    if row is None:
        raise CannotAct({FORM: "Action not found."})
    if not rules.may_trade(person, row.account_id):
        raise CannotAct({FORM: request_checks.ONLY_OPERATORS})
    try:
        return machine.move(
            row,
            event="settled",
            to=states.SETTLED,
            now=now,
            actor=person,
            session_key=session_key,
            evidence={"note": note},
            last_problem=f"Recorded by {person}: {note}"[:500],
        )
    except machine.CannotMove:
        raise CannotAct({FORM: "The result is already clear. Refresh the page."}) from None


def _check(
    initiator: "Person",
    account: Account,
    wish: Wish,
    *,
    request_key: str,
    now: datetime,
    confirmed: Collection[str],
) -> tuple[MarginAction, list[Overstep]]:
    """Check the request; gives the row to store and the oversteps that still have to be confirmed."""
    if not 0 < len(request_key) <= LONGEST_KEY:
        raise CannotAct({FORM: "This form is incomplete. Reload the page and try again."})
    there = request_checks.read_copies(account=account, code=wish.symbol)
    row = request_checks.draft(initiator=initiator, account=account, wish=wish, there=there)
    overstep_list = request_checks.check(row=row, wish=wish, there=there, now=now)
    row.request_key = request_key
    row.confirmed = _confirmed_facts(row, there) | {"oversteps": bounds.facts(overstep_list)}
    if row.kind == states.REDUCE:
        row.client_order_id = ID_PREFIX + secrets.token_hex(14)
    return row, bounds.unconfirmed(overstep_list, confirmed=confirmed)


def _confirmed_facts(row: MarginAction, there: MarginCopies) -> dict[str, Any]:
    """What the page showed: the account, the position, and the estimate of a close."""
    facts: dict[str, Any] = {}
    if there.held is not None:
        facts["balance"] = str(plain(there.held.margin_balance))
    if there.position is None or there.symbol is None or row.kind not in states.CLOSING:
        return facts
    facts |= {
        "position": str(plain(there.position.quantity)),
        "price_entry": str(plain(there.position.price_entry)),
    }
    quantity = row.quantity or abs(there.position.quantity)
    estimate = estimates.current(position=there.position, symbol=there.symbol, quantity=quantity, price=row.price)
    return facts | {"estimate": estimate.facts()}


def _is_same(row: MarginAction, wish: Wish) -> bool:
    """Whether the row is what is requested now; only a part has a quantity that was typed."""
    plain_order = row.order_type if row.kind in {states.CLOSE, states.REDUCE} else wish.order_type
    typed = {name: getattr(row, name) for name in _TYPED} | {"order_type": plain_order}
    requested = {name: getattr(wish, name) for name in _TYPED}
    if wish.position_id is None:
        typed["position_id"] = None
    return typed == requested and (row.kind != states.REDUCE or row.quantity == wish.quantity)


def _sorted(wishes: Sequence[Wish]) -> list[Wish]:
    return sorted(wishes, key=lambda one: one.symbol)


def _sent_before(row: MarginAction) -> CannotAct:
    return CannotAct({FORM: f"This form was already submitted with different content, as {row.reference}."})
