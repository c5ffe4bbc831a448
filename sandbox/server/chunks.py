"""Long answers, written a slice at a time: other calls come in between, and each part is of its own instant."""

import asyncio
import time
from typing import Final

from sandbox.exchange.handlers.market import Listing
from sandbox.world.world import World

CHUNK_NS: Final = 8_000_000  # of work between two looks at what else there is to do


async def written(world: World, listing: Listing) -> bytes:
    """The JSON of a listing. Raises `Refusal` when the world breaks meanwhile; a world that is begun again does not
    disturb what was asked of the old one."""
    parts, stop_ns = [], time.monotonic_ns() + CHUNK_NS
    for symbol in listing.symbols:
        parts.append(listing.part(symbol))
        if time.monotonic_ns() >= stop_ns:
            await asyncio.sleep(0)
            world.run_due()
            stop_ns = time.monotonic_ns() + CHUNK_NS
    return listing.whole(parts).encode("ascii")
