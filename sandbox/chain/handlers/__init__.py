"""One function per operation of the chain-data service: what it answers, or `Refused`.

A handler takes the node and the arguments as `sandbox.server.rest.chain` reads them: numbers and
switches typed, texts and the elements of arrays as they came, the members of a payload untouched. It returns what
goes out as JSON, and changes nothing but by `node.broadcast`.
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from typing import TypeAlias

from sandbox.chain.full_node import FullNode

Arguments: TypeAlias = Mapping[str, object]
Handler: TypeAlias = "Callable[[FullNode, Arguments], object]"


@cache
def every() -> dict[str, Handler]:
    """The handlers of every group, by the name of their operation."""
    handlers: dict[str, Handler] = {}
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        handlers |= getattr(importlib.import_module(module.name), "HANDLERS", {})
    return handlers


def find(operation: str) -> "Handler | None":
    """The handler of an operation; None when the sandbox has none."""
    return every().get(operation)
