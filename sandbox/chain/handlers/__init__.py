"""One function per operation of the chain-data service: what it answers, or `Refused`.

A handler takes the world and the arguments as `sandbox.server.services.chain_arguments` reads them: numbers and
switches typed, texts and the elements of arrays as they came, the members of a payload untouched. It returns what
goes out as JSON, and changes nothing but by `world.broadcast`.
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from sandbox.world.world import World

Arguments: TypeAlias = Mapping[str, object]
Handler: TypeAlias = "Callable[[World, Arguments], object]"


@cache
def every() -> dict[str, Handler]:
    """The handlers of every group, by the name of their operation."""
    found: dict[str, Handler] = {}
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        found |= getattr(importlib.import_module(module.name), "HANDLERS", {})
    return found


def find(operation: str) -> "Handler | None":
    """The handler of an operation; None when the sandbox has none."""
    return every().get(operation)
