"""The table of what happens to a raw transaction that somebody wants sent: its states, and every move between them.

A sentence says what happened first, then who acts next. Bytes are sent at most once: nothing leads back to `requested`
or `sending`. Sending the same bytes twice could pay nobody twice, but a desk that repeats blindly knows nothing.
"""

from dataclasses import dataclass
from typing import Final

REQUESTED: Final = "requested"
SENDING: Final = "sending"
SENT: Final = "sent"
FOUND: Final = "found"
REFUSED: Final = "refused"
NOT_SENT: Final = "not_sent"
UNKNOWN: Final = "unknown"
NOT_SEEN: Final = "not_seen"


@dataclass(frozen=True, slots=True)
class BroadcastState:
    """One state. `tone` is how it is shown, `is_open` whether a worker still acts on it."""

    label: str
    sentence: str
    tone: str
    is_open: bool = False


STATES: Final[dict[str, BroadcastState]] = {
    REQUESTED: BroadcastState(
        "Waiting to be sent",
        "Nothing was sent yet. A worker asks whether the network has the transaction already, then sends it once.",
        "active",
        is_open=True,
    ),
    SENDING: BroadcastState(
        "Being sent", "The transaction is on its way to the chain-data service at this moment.", "active", is_open=True
    ),
    SENT: BroadcastState(
        "Sent", "The node behind the service took the transaction and named its id. It waits for a block.", "good"
    ),
    FOUND: BroadcastState(
        "On the network",
        "The network has the transaction: it was found by its id. Nothing was sent, or the answer to it was lost.",
        "good",
    ),
    REFUSED: BroadcastState(
        "Refused", "The node refused the transaction for the reason below, and the network does not have it.", "bad"
    ),
    NOT_SENT: BroadcastState("Not sent", "Nothing left the desk, for the reason below.", "quiet"),
    UNKNOWN: BroadcastState(
        "Outcome unknown",
        "Unknown whether the node took it, because its answer did not arrive. The desk looks for the transaction by "
        "its id and never sends it again.",
        "warn",
        is_open=True,
    ),
    NOT_SEEN: BroadcastState(
        "Not seen",
        "The answer was lost, and in two minutes of looking the network did not show the transaction. Most likely it "
        "was not taken. Treasury can ask for the same bytes anew; they can pay only once.",
        "warn",
    ),
}

TRANSITIONS: Final = frozenset(
    {
        ("", "asked", REQUESTED),
        (REQUESTED, "found", FOUND),
        (REQUESTED, "claimed", SENDING),
        (REQUESTED, "stopped", NOT_SENT),
        (SENDING, "accepted", SENT),
        (SENDING, "refused", REFUSED),
        (SENDING, "found", FOUND),
        (SENDING, "not_sent", NOT_SENT),
        (SENDING, "answer_lost", UNKNOWN),
        (UNKNOWN, "found", FOUND),
        (UNKNOWN, "not_seen", NOT_SEEN),
    }
)
"""State, event and the state that follows."""

OPEN: Final = tuple(name for name, state in STATES.items() if state.is_open)
STANDING: Final = (*OPEN, SENT, FOUND)
"""While a transaction is in one of these, the same bytes are not asked for again."""
