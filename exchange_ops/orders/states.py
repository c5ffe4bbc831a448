"""The table of the order machine: what the desk itself knows of an order, and every move between those states.

This is data, read by the mover, the database constraints, the pages and the tests. The exchange's own status of an
order is stored beside its state. A sentence says first what happened, then why, then who can do what. An order is sent
at most once: nothing leads back to `sending`, and only an approval leads to `requested`.
"""

from typing import Any, Final

from desk.machines.table import WORK, Column, State, Table, Tone, Transition, Turn

REQUESTED: Final = "requested"
SENDING: Final = "sending"
PLACED: Final = "placed"
REFUSED: Final = "refused"
NOT_SENT: Final = "not_sent"
UNKNOWN: Final = "unknown"
FOUND: Final = "found"
NOT_SEEN: Final = "not_seen"
CANCELLING: Final = "cancelling"
REPLACING: Final = "replacing"
WAITING: Final = "waiting"
DECLINED: Final = "declined"
WITHDRAWN: Final = "withdrawn"
LAPSED: Final = "lapsed"

STATES: Final[dict[str, State]] = {
    WAITING: State(
        "Waiting for approval",
        (
            "Not sent yet. The order exceeds the requester's limit, so treasury must approve it first. "
            "Treasury can approve or reject; the requester can withdraw it."
        ),
        Turn.PERSON,
        Tone.WARN,
        icon="users-round",
    ),
    DECLINED: State(
        "Rejected",
        "Not placed: treasury rejected the order.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="circle-x",
    ),
    WITHDRAWN: State(
        "Withdrawn",
        "Not placed: the requester withdrew the order.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="ban",
    ),
    LAPSED: State(
        "Approval expired",
        "Not placed: no decision before the deadline. An operator can place a new order.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="circle-pause",
    ),
    REQUESTED: State(
        "Queued",
        "Not sent yet. The order will be sent within a minute or not at all. No action needed.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="clock",
    ),
    SENDING: State(
        "Sending",
        "The order was sent; awaiting the exchange's response. No action needed.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="send",
    ),
    PLACED: State(
        "Placed",
        "Accepted by the exchange. Status as of the last update.",
        Turn.NOBODY,
        Tone.GOOD,
        icon="circle-check",
    ),
    REFUSED: State(
        "Refused by the exchange",
        (
            "Not placed, and nothing is reserved: the exchange rejected the order for the reason below. An operator "
            "can place a new order."
        ),
        Turn.NOBODY,
        Tone.BAD,
        icon="circle-x",
    ),
    NOT_SENT: State(
        "Not sent",
        "Not placed: the order was not sent, for the reason below. An operator can place a new order.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="circle-pause",
    ),
    UNKNOWN: State(
        "Unknown, searching",
        (
            "Not yet known whether the order was placed: no response from the exchange. Searching open orders and "
            "history; it will not be sent again. Do not place this order again until its status is known."
        ),
        Turn.EXCHANGE,
        Tone.WARN,
        icon="circle-question-mark",
    ),
    FOUND: State(
        "Placed, confirmed by ID",
        (
            "Accepted by the exchange: the response was lost, but the order was found by its ID. Status as of the "
            "last update."
        ),
        Turn.NOBODY,
        Tone.GOOD,
        icon="circle-check",
    ),
    NOT_SEEN: State(
        "Not found on the exchange",
        (
            "Most likely not placed: repeated checks for over a minute found no order with this ID. It will not be "
            "sent again. If it appears on the exchange, it will be shown here. An operator can place a new order."
        ),
        Turn.PERSON,
        Tone.WARN,
        icon="circle-question-mark",
    ),
    CANCELLING: State(
        "Cancelling",
        (
            "Cancelling the remainder of the order; it can still fill until the exchange confirms. The cancel request "
            "is repeated until the order is no longer open."
        ),
        Turn.WORKER,
        Tone.ACTIVE,
        icon="undo-2",
    ),
    REPLACING: State(
        "Replacing",
        (
            "Replacing the remainder of the order; fills are kept. The original order can still fill until the "
            "exchange responds. No action needed."
        ),
        Turn.WORKER,
        Tone.ACTIVE,
        icon="arrow-left-right",
    ),
}

_T = Transition
TRANSITIONS: Final[tuple[Transition, ...]] = (
    _T(1, "", "asked", REQUESTED, ("operator",)),
    _T(2, "", "seen_elsewhere", PLACED, ("reconciler",)),
    _T(3, REQUESTED, "claimed", SENDING, ("worker",)),
    _T(4, REQUESTED, "stopped", NOT_SENT, ("worker", "operator")),
    _T(5, SENDING, "accepted", PLACED, ("worker",)),
    _T(6, SENDING, "refused", REFUSED, ("worker",)),
    _T(7, SENDING, "not_sent", NOT_SENT, ("worker",)),
    _T(8, SENDING, "answer_lost", UNKNOWN, ("worker", "sweeper")),
    _T(9, UNKNOWN, "found", FOUND, ("reconciler",)),
    _T(10, UNKNOWN, "not_seen", NOT_SEEN, ("reconciler",)),
    _T(11, NOT_SEEN, "found", FOUND, ("reconciler",)),
    _T(12, REFUSED, "found", FOUND, ("reconciler",)),
    _T(12, NOT_SENT, "found", FOUND, ("reconciler",)),
    # Sent by a desk whose database has fallen back since.
    *(_T(26, state, "found", FOUND, ("reconciler",)) for state in (REQUESTED, WAITING, DECLINED, WITHDRAWN, LAPSED)),
    _T(13, PLACED, "cancel_asked", CANCELLING, ("operator", "worker")),
    _T(13, FOUND, "cancel_asked", CANCELLING, ("operator", "worker")),
    _T(14, CANCELLING, "cancel_claimed", CANCELLING, ("worker",)),
    _T(15, CANCELLING, "cancel_unconfirmed", CANCELLING, ("worker",)),
    _T(16, CANCELLING, "cancel_confirmed", PLACED, ("worker", "reconciler")),
    _T(17, CANCELLING, "cancel_refused", PLACED, ("worker",)),
    _T(18, PLACED, "replace_asked", REPLACING, ("operator",)),
    _T(18, FOUND, "replace_asked", REPLACING, ("operator",)),
    _T(19, REPLACING, "replaced", PLACED, ("worker",)),
    _T(20, REPLACING, "replace_ended", PLACED, ("worker",)),
    _T(21, REPLACING, "cancel_asked", CANCELLING, ("operator", "worker")),
    _T(22, "", "approval_asked", WAITING, ("operator",)),
    _T(23, WAITING, "quorum_reached", REQUESTED, ("approver",)),
    _T(24, WAITING, "declined", DECLINED, ("approver",)),
    _T(24, WAITING, "withdrawn", WITHDRAWN, ("initiator",)),
    _T(24, WAITING, "lapsed", LAPSED, ("worker",)),
    _T(25, "", "asked_by_bracket", REQUESTED, ("worker",)),
)

_CONTENT: Final = Column.RECORDED | Column.FIXED | Column.SIGNED  # what was asked for
# What the exchange says of an order. Brackets, cancelling and limits decide by it: forged, it would sell twice.
_DECIDING: Final = Column.COPY | Column.WITNESSED
TABLE: Final = Table(
    noun="an order",
    states=STATES,
    moves=TRANSITIONS,
    at_rest=frozenset(
        name for name, state in STATES.items() if state.turn not in {Turn.WORKER, Turn.EXCHANGE} and name != WAITING
    ),
    columns=WORK
    | {
        "account_id": _CONTENT,
        "initiator_id": _CONTENT,
        "initiated_via": Column.RECORDED | Column.FIXED,
        "request_key": Column.FIXED,
        "client_order_id": _CONTENT,
        "replaces_id": _CONTENT,
        "symbol": _CONTENT,
        "side": _CONTENT,
        "type": _CONTENT,
        "time_in_force": _CONTENT,
        "quantity": _CONTENT,
        "price": _CONTENT,
        "stop_price": _CONTENT,
        "expire_time": _CONTENT,
        "post_only": _CONTENT,
        "strict_validate": _CONTENT,
        "take_liquidity_markup": _CONTENT,
        "provide_liquidity_markup": _CONTENT,
        "oversteps": _CONTENT,
        "digest": Column.RECORDED | Column.FIXED,
        "approve_until": Column.RECORDED | Column.FIXED,
        "created_at": Column.FIXED,
        "sends": Column.COUNTER,
        "exchange_id": Column.ONCE,
        "looks": Column.TIMER | Column.TOUCHED,
        "status": _DECIDING,
        "cum_quantity": _DECIDING,
        "average_price": Column.COPY,
        "exchange_created_at": Column.COPY,
        "exchange_updated_at": _DECIDING,  # an older record than it changes nothing
        "active": _DECIDING,
        "margin": Column.RECORDED | _DECIDING,  # of an order that was placed elsewhere, it is read
        "missing_since": Column.CLOCK,
        "read_at": Column.CLOCK,
    },
)
AT_WORK: Final = TABLE.at_work
AT_EXCHANGE: Final = (PLACED, FOUND)
CANCELLABLE: Final = (*AT_EXCHANGE, REPLACING)
REPEATABLE: Final = (REFUSED, NOT_SENT, DECLINED, WITHDRAWN, LAPSED)  # ended with nothing at the exchange
ON_THE_WAY: Final = (REQUESTED, SENDING, UNKNOWN)  # whether the exchange has it is not known yet
ENDED: Final = ("filled", "canceled", "expired")  # exchange REST, Order status: nothing follows on these


def state_of(row: Any) -> str:
    """An order's state inside a sentence: the exchange's word where there is one."""
    return f"exchange status {row.status}" if row.status else f"{row.label[0].lower()}{row.label[1:]}"
