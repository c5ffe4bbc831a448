"""The table of a wish for a new deposit address: every state, whose turn it is, and every move between states."""

from typing import Final

from exchange_ops.shared.states import ACTIVE, BAD, EXCHANGE, GOOD, NOBODY, QUIET, WARN, WORKER, State

REQUEST_STATES: Final[dict[str, State]] = {
    "asked": State(
        "Waiting to be asked for",
        "No new address was made yet. A worker asks the exchange for it once; the desk goes on by itself.",
        WORKER,
        ACTIVE,
    ),
    "sending": State(
        "Being asked for",
        "The exchange is being asked for a new address at this moment. The desk goes on by itself.",
        WORKER,
        ACTIVE,
    ),
    "unknown": State(
        "Answer lost",
        "Unknown whether a new address was made, because the exchange's answer did not arrive. The desk reads the "
        "exchange's list until it knows and never asks a second time by itself. The present address goes on working.",
        EXCHANGE,
        WARN,
    ),
    "made": State(
        "New address made",
        "The exchange made a new address. Every older one goes on working.",
        NOBODY,
        GOOD,
        terminal=True,
    ),
    "refused": State(
        "Refused by the exchange",
        "No new address was made: the exchange refused it for the reason below. The present address goes on working.",
        NOBODY,
        BAD,
        terminal=True,
    ),
    "not_sent": State(
        "Not asked",
        "No new address was made: the question did not leave the desk, for the reason below. "
        "The present address goes on working. An operator can ask again.",
        NOBODY,
        QUIET,
        terminal=True,
    ),
    "absent": State(
        "No new address seen",
        "No new address was made, as far as the exchange's list shows: the answer was lost and nothing new was listed. "
        "The present address goes on working. An operator can ask again.",
        NOBODY,
        QUIET,
        terminal=True,
    ),
}
# From, to: the only moves there are. An answer that comes after the worker's time was over is found in the list.
REQUEST_MOVES: Final = frozenset(
    {
        ("asked", "sending"),
        ("asked", "not_sent"),
        ("sending", "made"),
        ("sending", "refused"),
        ("sending", "not_sent"),
        ("sending", "unknown"),
        ("unknown", "unknown"),
        ("unknown", "made"),
        ("unknown", "absent"),
    }
)
OPEN_REQUESTS: Final = tuple(name for name, state in REQUEST_STATES.items() if not state.terminal)
# Those that used one of the five of a day, or may have.
SPENT_REQUESTS: Final = ("sending", "unknown", "made")
