"""Long polling: a call that is answered when something has changed, or when its time is up."""

import asyncio
import contextlib

from sandbox.exchange.terms import Event, Wait
from sandbox.world.world import World


async def wait_out(world: World, wait: Wait) -> None:
    """Returns when the change has come, or after `wait.ms` of real time."""
    over = asyncio.get_running_loop().create_future()

    def hear(event: Event) -> None:
        if not over.done() and wait.is_over(event):
            over.set_result(None)

    stop = world.listen(hear)
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait.ms / 1000):
                await over
    finally:
        stop()
