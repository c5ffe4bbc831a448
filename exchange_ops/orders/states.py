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
        "Nothing was sent. The order goes beyond a limit of who asked for it, so treasury has to approve it first. "
        "Treasury can approve or decline; the person who asked can withdraw it.",
        Turn.PERSON,
        Tone.WARN,
        icon="users-round",
    ),
    DECLINED: State(
        "Declined",
        "Not placed, nothing left the desk: treasury declined it.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="circle-x",
    ),
    WITHDRAWN: State(
        "Withdrawn",
        "Not placed, nothing left the desk: the person who asked took it back.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="ban",
    ),
    LAPSED: State(
        "Approval expired",
        "Not placed, nothing left the desk: nobody decided on it in time. An operator can place another one.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="circle-pause",
    ),
    REQUESTED: State(
        "About to be sent",
        "Nothing was sent. The order waits for a worker, for a minute at most. The desk goes on by itself.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="clock",
    ),
    SENDING: State(
        "Being placed",
        "The order is on its way to the exchange, and its answer is not there yet. The desk goes on by itself.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="send",
    ),
    PLACED: State(
        "Placed",
        "Accepted by the exchange. Its status is shown as last read.",
        Turn.NOBODY,
        Tone.GOOD,
        icon="circle-check",
    ),
    REFUSED: State(
        "Refused by the exchange",
        "Not placed, and nothing is reserved: the exchange refused the order for the reason below. "
        "An operator can place another one.",
        Turn.NOBODY,
        Tone.BAD,
        icon="circle-x",
    ),
    NOT_SENT: State(
        "Not sent",
        "Not placed: nothing left the desk, for the reason below. An operator can place another one.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="circle-pause",
    ),
    UNKNOWN: State(
        "Unknown, being looked for",
        "Unknown whether it was placed: the exchange's answer did not arrive. The desk looks for it among the open "
        "orders and in the history, and never sends it again. Nobody should place the same order meanwhile.",
        Turn.EXCHANGE,
        Tone.WARN,
        icon="circle-question-mark",
    ),
    FOUND: State(
        "Placed, found by its id",
        "Accepted by the exchange: its answer was lost, and the desk found the order by its id. "
        "Its status is shown as last read.",
        Turn.NOBODY,
        Tone.GOOD,
        icon="circle-check",
    ),
    NOT_SEEN: State(
        "Not seen at the exchange",
        "Most likely not placed: the exchange lists no order of this id, looked for again and again for over a minute. "
        "The desk never sends it again, and still says so should it appear. An operator can place another one.",
        Turn.PERSON,
        Tone.WARN,
        icon="circle-question-mark",
    ),
    CANCELLING: State(
        "Being cancelled",
        "The exchange is being asked to cancel what is left of the order; it can still be filled until it has. "
        "The desk repeats that until the exchange no longer lists it as open.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="undo-2",
    ),
    REPLACING: State(
        "Being replaced",
        "The exchange is being asked to put another order in the place of what is left of it; what was filled stays "
        "filled. It can still be filled until the exchange has answered. The desk goes on by itself.",
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
ON_THE_WAY: Final = (REQUESTED, SENDING, UNKNOWN)  # whether the exchange has it is not known yet
ENDED: Final = ("filled", "canceled", "expired")  # exchange REST, Order status: nothing follows on these


def state_of(row: Any) -> str:
    """An order's state inside a sentence: the exchange's word where there is one."""
    return f"the exchange says {row.status}" if row.status else f"{row.label[0].lower()}{row.label[1:]}"
