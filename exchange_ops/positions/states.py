"""The table of what is done to margin accounts and positions: every state of such an action, and every move.

This is data, read by the mover, the database constraints, the pages and the tests. An action is sent at most once:
nothing leads back to `requested` or `sending`. What became of a lost answer is read from the exchange's accounts,
positions and orders. Source of the rules: exchange streams, Margin account; supplement 1.5 and 2.7.
"""

from typing import Final

from desk.machines.table import WORK, Column, State, Table, Tone, Transition, Turn

OPEN, SET, CLOSE_ACCOUNT, CLOSE, REDUCE = "open", "set", "close_account", "close", "reduce"
KINDS: Final = {
    OPEN: "Open margin account",
    SET: "Change collateral",
    CLOSE_ACCOUNT: "Close margin account",
    CLOSE: "Close position",
    REDUCE: "Close part of position",
}
MARKET, LIMIT = "market", "limit"
ORDER_TYPES: Final = {MARKET: "At the market", LIMIT: "At a limit price"}
CLOSING: Final = (CLOSE_ACCOUNT, CLOSE, REDUCE)

REQUESTED: Final = "requested"
SENDING: Final = "sending"
CHECKING: Final = "checking"
UNKNOWN: Final = "unknown"
DONE: Final = "done"
PARTLY: Final = "partly"
REFUSED: Final = "refused"
NOT_SENT: Final = "not_sent"
NOT_DONE: Final = "not_done"
UNCLEAR: Final = "unclear"
SETTLED: Final = "settled"

STATES: Final[dict[str, State]] = {
    REQUESTED: State(
        "Queued",
        (
            "Not sent yet. The account will be checked once more; the request will then be sent within a minute or not "
            "at all."
        ),
        Turn.WORKER,
        Tone.ACTIVE,
        icon="clock",
    ),
    SENDING: State(
        "Sending",
        "Sending to the exchange. No action needed.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="send",
    ),
    CHECKING: State(
        "Accepted, verifying",
        "Accepted by the exchange; waiting for the account to show the result. No action needed.",
        Turn.EXCHANGE,
        Tone.ACTIVE,
        icon="hourglass",
    ),
    UNKNOWN: State(
        "Outcome unknown",
        (
            "Not yet known whether the request was carried out: no response from the exchange. Accounts, positions and "
            "orders are checked until the outcome is known; the request will not be sent again. Do not repeat it until "
            "then."
        ),
        Turn.EXCHANGE,
        Tone.WARN,
        icon="circle-question-mark",
    ),
    DONE: State(
        "Done",
        "Done, confirmed by the exchange's records.",
        Turn.NOBODY,
        Tone.GOOD,
        icon="circle-check",
        terminal=True,
    ),
    PARTLY: State(
        "Partly done",
        "Part of the position was closed and the rest is still open: there was not enough liquidity in the order book. "
        "An operator can close the rest.",
        Turn.NOBODY,
        Tone.WARN,
        icon="triangle-alert",
        terminal=True,
    ),
    REFUSED: State(
        "Refused by the exchange",
        "Nothing changed: the exchange rejected the request for the reason below.",
        Turn.NOBODY,
        Tone.BAD,
        icon="circle-x",
        terminal=True,
    ),
    NOT_SENT: State(
        "Not sent",
        "Not sent, for the reason below. Nothing changed. An operator can request it again.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="circle-pause",
        terminal=True,
    ),
    NOT_DONE: State(
        "Not done",
        "Nothing changed, according to the exchange's records. An operator can request it again.",
        Turn.NOBODY,
        Tone.BAD,
        icon="circle-x",
        terminal=True,
    ),
    UNCLEAR: State(
        "Unclear",
        (
            "The result is unclear: the account also changed for another reason. An operator must compare the "
            "exchange's records and record the result. The request will not be sent again."
        ),
        Turn.PERSON,
        Tone.WARN,
        icon="circle-question-mark",
    ),
    SETTLED: State(
        "Result recorded",
        "An operator compared the exchange's records and recorded the result.",
        Turn.NOBODY,
        Tone.QUIET,
        icon="circle-check",
        terminal=True,
    ),
}

_T = Transition
TRANSITIONS: Final[tuple[Transition, ...]] = (
    _T(1, "", "asked", REQUESTED, ("operator",)),
    _T(2, REQUESTED, "claimed", SENDING, ("worker",)),
    _T(3, REQUESTED, "stopped", NOT_SENT, ("worker",)),
    _T(4, SENDING, "accepted", CHECKING, ("worker",)),
    _T(5, SENDING, "refused", REFUSED, ("worker",)),
    _T(6, SENDING, "not_sent", NOT_SENT, ("worker",)),
    _T(7, SENDING, "answer_lost", UNKNOWN, ("worker", "sweeper")),
    _T(8, CHECKING, "seen", DONE, ("reconciler",)),
    _T(9, CHECKING, "seen_partly", PARTLY, ("reconciler",)),
    _T(10, CHECKING, "seen_unchanged", NOT_DONE, ("reconciler",)),
    _T(11, CHECKING, "unexplained", UNCLEAR, ("reconciler",)),
    _T(12, UNKNOWN, "seen", DONE, ("reconciler",)),
    _T(13, UNKNOWN, "seen_partly", PARTLY, ("reconciler",)),
    _T(14, UNKNOWN, "seen_unchanged", NOT_DONE, ("reconciler",)),
    _T(15, UNKNOWN, "unexplained", UNCLEAR, ("reconciler",)),
    _T(16, UNCLEAR, "settled", SETTLED, ("operator",)),
)

_CONTENT: Final = Column.RECORDED | Column.FIXED  # what was asked for
TABLE: Final = Table(
    noun="a margin action",
    states=STATES,
    moves=TRANSITIONS,
    at_rest=frozenset(name for name, state in STATES.items() if state.turn in {Turn.NOBODY, Turn.PERSON}),
    columns=WORK
    | {
        "account_id": _CONTENT,
        "initiator_id": _CONTENT,
        "initiated_via": _CONTENT,
        "request_key": Column.FIXED,
        "client_order_id": _CONTENT,
        "kind": _CONTENT,
        "symbol": _CONTENT,
        "amount": _CONTENT,
        "side": _CONTENT,
        "quantity": _CONTENT,
        "order_type": _CONTENT,
        "price": _CONTENT,
        "position_id": _CONTENT,
        "confirmed": _CONTENT,
        "created_at": Column.FIXED,
        "sends": Column.COUNTER,
        "exchange_order_id": Column.ONCE,
        "looks": Column.TIMER | Column.TOUCHED,
    },
)
IN_FLIGHT: Final = (REQUESTED, SENDING, CHECKING, UNKNOWN)
