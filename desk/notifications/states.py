"""The table of deliveries: one message by one way to one person or channel.

A delivery is tried until it arrives, until a day is over, or until nobody needs it any more. It is made at least once:
where a worker did not come back from sending, it is sent again with the same id.
"""

from typing import Final

from desk.machines.table import WORK, Column, State, Table, Tone, Transition, Turn

QUEUED: Final = "queued"
SENDING: Final = "sending"
DELIVERED: Final = "delivered"
FAILED: Final = "failed"
DROPPED: Final = "dropped"

STATES: Final[dict[str, State]] = {
    QUEUED: State("Waiting", "Queued. Delivery is retried if it fails.", Turn.WORKER, Tone.ACTIVE),
    SENDING: State("Being sent", "A worker is sending the message.", Turn.WORKER, Tone.ACTIVE),
    DELIVERED: State(
        "Delivered",
        "The receiving server accepted the message. Whether anyone has read it is unknown.",
        Turn.NOBODY,
        Tone.GOOD,
        terminal=True,
    ),
    FAILED: State(
        "Failed",
        "Not delivered, and no longer retried. An administrator can send the message again.",
        Turn.PERSON,
        Tone.BAD,
        terminal=True,
    ),
    DROPPED: State(
        "Not needed",
        "Not sent: the item was closed first. If the item reopens, the message will be sent.",
        Turn.NOBODY,
        Tone.QUIET,
        terminal=True,
    ),
}

_DESK: Final = ("desk",)
_T = Transition
TRANSITIONS: Final[tuple[Transition, ...]] = (
    _T(1, "", "queued", QUEUED, _DESK),
    _T(2, QUEUED, "began", SENDING, _DESK),
    _T(3, SENDING, "delivered", DELIVERED, _DESK),
    _T(4, SENDING, "put_off", QUEUED, _DESK),
    _T(5, SENDING, "gave_up", FAILED, _DESK),
    _T(6, QUEUED, "dropped", DROPPED, _DESK),
    _T(7, DROPPED, "revived", QUEUED, _DESK),
    _T(8, FAILED, "sent_again", QUEUED, ("admin",)),
    _T(9, DELIVERED, "sent_again", QUEUED, ("admin",)),
)
TABLE: Final = Table(
    noun="a delivery",
    states=STATES,
    moves=TRANSITIONS,
    columns={
        "notification": Column.FIXED,
        "medium": Column.FIXED,
        "person": Column.FIXED,
        "channel": Column.FIXED,
        "created_at": Column.FIXED,
        "content": Column.ONCE,
        "attempts": Column.COUNTER,
        **WORK,
    },
)
UNSENT: Final = (QUEUED, SENDING)
