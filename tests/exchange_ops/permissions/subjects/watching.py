"""Who stops watching an address, and who reviews what moved there."""

from typing import Any

from chaindata.watching import states
from chaindata.watching.machine import ADDRESSES
from chaindata.watching.machine import MOVEMENTS as MOVED
from chaindata.watching.models import ChainMovement, WatchedAddress
from desk import clock
from desk.people import roles
from tests.exchange_ops.permissions.shared_form import Subject, colleague, walk

T, A, OPERATOR = roles.TREASURY, roles.ADMIN, roles.OPERATOR
ADDRESS = "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap"
REVIEWS = ("chain-watched-review", "api-chain-movements-review")
REASON = {"stopped": lambda row: {"reason": "Sold."}, "reviewed": lambda row: {"reason": "Ours."}}


def address(state: str, person: Any) -> WatchedAddress:
    """An address in the state, added by somebody of treasury."""
    keeper = colleague(T, "keeper")
    row = WatchedAddress(address=ADDRESS, title="Vault", purpose="reserve", added_by=keeper)
    row.from_height = row.settled_height = 7
    return walk(ADDRESSES, ADDRESSES.create(row, event="began", now=clock.now(), actor=keeper), state, REASON)


def movement(state: str, person: Any) -> ChainMovement:
    """A movement in the state, of an address under watch."""
    row = ChainMovement(watched=address(states.WATCHED, person), txid="ab" * 32, change_sat=-5, spends=True)
    return walk(MOVED, MOVED.create(row, event="seen", now=clock.now()), state, REASON)


WATCHED = Subject(
    name="watched address",
    states=states.ADDRESS_STATES,
    reach=address,
    routes=dict.fromkeys(("chain-watched-stop", "api-chain-watched-stop"), lambda row: {"reason": "Sold."}),
    goes_through={(states.WATCHED, f"{way}chain-watched-stop"): {T, A} for way in ("", "api-")},
    reads={"chain-watched-address": roles.ALL, "api-chain-watched-address": roles.ALL},
    topic=lambda row: row.subject,
)
MOVEMENTS = Subject(
    name="movement",
    states=states.MOVEMENT_STATES,
    reach=movement,
    routes=dict.fromkeys(REVIEWS, lambda row: {"reason": "Ours.", "movement": row.pk}),
    goes_through={(states.TO_REVIEW, route): {OPERATOR, T, A} for route in REVIEWS},
    args=lambda row, _: (row.watched_id,),
    reads={"chain-watched-address": roles.ALL, "api-chain-movements": roles.ALL},
    topic=lambda row: row.watched.subject,
)
