"""What the control plane and the journal may do to a world: the narrow part of it that actions and replays get."""

from collections.abc import Sequence
from typing import Protocol

from sandbox.engine.clock import Clock
from sandbox.engine.journal import Journal
from sandbox.exchange.state import Exchange


class Control(Protocol):
    """The exchange (with its chain and settings), the clock, the journal's facts, and what goes beyond an exchange.

    What is read of `journal` is its header and length: only the world itself writes into it.
    """

    clock: Clock
    exchange: Exchange
    broken: str

    @property
    def journal(self) -> Journal:
        """The journal that the world keeps."""
        ...

    @property
    def warnings(self) -> Sequence[str]:
        """What was special about opening this world."""
        ...

    def broadcast(self, raw: bytes) -> str:
        """Takes a transaction into the mempool and the journal; its id. Raises `sandbox.chain.node.terms.Refused`."""
        ...

    def begin_again(self, seed: int | None = None, symbols: int | None = None) -> None:
        """A fresh world in place of this one."""
        ...
