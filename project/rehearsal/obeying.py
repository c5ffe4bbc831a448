"""What the supervisor of a rehearsal does for its drills: it stops a child of its own, and starts it again."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from desk.processes import stops
from project.supervisor.child import Child

_EVERY_S: Final = 0.5


async def obey(children: Sequence[Child], folder: Path) -> None:
    """Keep the child that the file in the folder names stopped, until the file is gone or its time is over."""
    while True:
        name = stops.stopped(folder)
        for child in children:
            child.hold(child.plan.name == name)
        await asyncio.sleep(_EVERY_S)
