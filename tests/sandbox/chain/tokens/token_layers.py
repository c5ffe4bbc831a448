"""A property-token layer without a chain: a test says what happens in each block, and looks at what became of it."""

from itertools import count
from typing import Any

from chaindata.wire.tokens.payloads import Burn, Payload
from sandbox.chain.tokens import properties_hashes
from sandbox.chain.tokens.properties_rules import PlacedMessage, fold
from sandbox.chain.tokens.properties_state import State
from sandbox.chain.tokens.properties_terms import COIN_SAT, Carried, Moment, Record

START_S = 1_795_000_000
FIRST_HEIGHT = 110


class Layer:
    """Blocks of one transaction each, ten minutes apart unless told."""

    def __init__(self, height: int = FIRST_HEIGHT) -> None:
        self.state = State()
        self.moment = Moment(height - 1, START_S)
        self.blocks: list[tuple[Moment, list[PlacedMessage]]] = []
        self._numbers = count(1)

    def block(self, *said: Carried, later_s: int = 600) -> list[Record]:
        """The next block, with these transactions."""
        self.moment = Moment(self.moment.height + 1, self.moment.time_s + later_s)
        self.blocks.append((self.moment, [PlacedMessage(place, each) for place, each in enumerate(said, start=1)]))
        return fold(self.state, *self.blocks[-1])

    def carried(self, payload: Payload, sender: str, receiver: str = "", burnt_sat: int = 0) -> Carried:
        """A transaction that says this."""
        return Carried(f"{next(self._numbers):064x}", b"", payload, sender, receiver, 500, burnt_sat)

    def say(self, payload: Payload, sender: str, receiver: str = "", *, later_s: int = 600, **more: int) -> Record:
        """What becomes of one transaction in the next block."""
        (record,) = self.block(self.carried(payload, sender, receiver, **more), later_s=later_s)
        return record

    def good(self, payload: Payload, sender: str, receiver: str = "", **more: int) -> Record:
        """What became of a transaction that must be valid."""
        record = self.say(payload, sender, receiver, **more)
        assert record.is_valid, record.reason
        return record

    def reason(self, payload: Payload, sender: str, receiver: str = "", **more: int) -> str:
        """Why a transaction is not valid; it must have changed nothing."""
        before = picture(self.state)
        record = self.say(payload, sender, receiver, **more)
        assert record.reason
        assert picture(self.state) == before
        return record.reason

    def enrich(self, *addresses: str, coins: int = 1) -> None:
        """Lets addresses have a hundred tokens of the first property for each coin."""
        self.block(*(self.carried(Burn(), each, burnt_sat=coins * COIN_SAT) for each in addresses))
        self.block()

    def replayed(self) -> State:
        """The same blocks, folded into an empty layer."""
        state = State()
        for moment, said in self.blocks:
            fold(state, moment, said)
        return state


def picture(state: State) -> tuple[Any, ...]:
    """Everything a layer knows: equal pictures mean equal layers."""
    families = state.gallery.families
    return (
        {each: dict(sorted(held.items())) for each, held in state.balances.items() if held},
        dict(state.properties),
        dict(state.sales),
        dict(state.selling),
        {each: held_fast for each, held_fast in state.frozen.items() if held_fast},
        dict(state.maturing),
        dict(families),
        {each: dict(held) for each, held in state.gallery._collectibles.items()},
        properties_hashes.consensus(state),
    )
