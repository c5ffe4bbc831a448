"""One function per operation: what the sandbox's exchange does when a call comes in.

`HANDLERS` maps operation names of the catalogue, `STREAM_HANDLERS` the queries that only sockets have. A handler takes
the world, the caller (None for public operations) and the arguments in plain JSON form (decimals and instants as
text), and returns what goes out as JSON. It either raises `Refusal` and changes nothing, or does all of it.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from sandbox.exchange.terms import Caller

if TYPE_CHECKING:
    from sandbox.world import World

Arguments: TypeAlias = Mapping[str, object]
Handler: TypeAlias = "Callable[[World, Caller | None, Arguments], object]"

HANDLERS: dict[str, Handler] = {}
STREAM_HANDLERS: dict[str, Handler] = {}
CHANGING: frozenset[str] = frozenset()  # the operations that change the world, and are therefore journaled
