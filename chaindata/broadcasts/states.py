"""The states of a raw transaction that somebody wants to send, and every move between them.

Each sentence says what happened, then who acts next. Bytes are sent at most once: no move leads back to `requested` or
`sending`. The same bytes could never pay twice, but a desk that repeats a call blindly does not know where it stands.
"""

from typing import Final

from desk.machines.table import WORK, Column, State, Table, Tone, Transition, Turn

REQUESTED: Final = "requested"
SENDING: Final = "sending"
SENT: Final = "sent"
ON_NETWORK: Final = "found"
REFUSED: Final = "refused"
NOT_SENT: Final = "not_sent"
UNKNOWN: Final = "unknown"
NOT_SEEN: Final = "not_seen"


STATES: Final[dict[str, State]] = {
    REQUESTED: State(
        "Queued",
        "Not sent yet. A worker checks whether the network already has the transaction, then sends it once.",
        Turn.WORKER,
        Tone.ACTIVE,
    ),
    SENDING: State(
        "Being sent",
        "The transaction is being sent to the chain-data service.",
        Turn.WORKER,
        Tone.ACTIVE,
    ),
    SENT: State(
        "Sent",
        "The node accepted the transaction and returned its ID. Awaiting a block.",
        Turn.NOBODY,
        Tone.GOOD,
    ),
    ON_NETWORK: State(
        "On the network",
        "The network has the transaction, confirmed by its ID. Either it was already there, "
        "or the response to our broadcast was lost.",
        Turn.NOBODY,
        Tone.GOOD,
    ),
    REFUSED: State(
        "Refused",
        "The node rejected the transaction for the reason below. The network does not have it.",
        Turn.NOBODY,
        Tone.BAD,
    ),
    NOT_SENT: State("Not sent", "Not sent, for the reason below.", Turn.NOBODY, Tone.QUIET),
    UNKNOWN: State(
        "Outcome unknown",
        "No response from the node, so the outcome is unknown. Countersign looks the transaction up by its ID and never"
        " sends it again.",
        Turn.CHAIN,
        Tone.WARN,
    ),
    NOT_SEEN: State(
        "Not seen",
        "The response was lost, and the transaction has not appeared on the network within two minutes. It was most "
        "likely not accepted. Treasury can request the same transaction again: it can only pay once.",
        Turn.NOBODY,
        Tone.WARN,
    ),
}

_T = Transition
TRANSITIONS: Final[tuple[Transition, ...]] = (
    _T(1, "", "asked", REQUESTED, ("treasury",)),
    _T(2, REQUESTED, "found", ON_NETWORK, ("worker",)),
    _T(3, REQUESTED, "claimed", SENDING, ("worker",)),
    _T(4, REQUESTED, "stopped", NOT_SENT, ("worker",)),
    _T(5, SENDING, "accepted", SENT, ("worker",)),
    _T(6, SENDING, "refused", REFUSED, ("worker",)),
    _T(7, SENDING, "found", ON_NETWORK, ("worker",)),
    _T(8, SENDING, "not_sent", NOT_SENT, ("worker",)),
    _T(9, SENDING, "answer_lost", UNKNOWN, ("worker", "sweeper")),
    _T(10, UNKNOWN, "found", ON_NETWORK, ("chain",)),
    _T(11, UNKNOWN, "not_seen", NOT_SEEN, ("chain",)),
)
_CONTENT: Final = Column.RECORDED | Column.FIXED  # what was asked for
TABLE: Final = Table(
    noun="a transaction to be sent",
    states=STATES,
    moves=TRANSITIONS,
    at_rest=frozenset({SENT, ON_NETWORK, REFUSED, NOT_SENT, NOT_SEEN}),
    columns=WORK
    | {
        "txid": _CONTENT,
        "raw": Column.FIXED,
        "size": _CONTENT,
        "digest": _CONTENT,
        "explained": Column.FIXED,
        "reason": _CONTENT,
        "requested_by_id": _CONTENT,
        "confirmation_id": _CONTENT,
        "created_at": Column.FIXED,
        "sends": Column.COUNTER,
        "looks": Column.TIMER | Column.TOUCHED,
    },
)

OPEN: Final = TABLE.at_work
IN_EFFECT: Final = (*OPEN, SENT, ON_NETWORK)
"""While a transaction is in one of these, the same bytes are not asked for again."""
