"""How the chain of a world begins: its scenario, built once for each seed, and set to the time the world began at.

The transactions of the scenario depend on the seed only. They are signed and checked once in a process; a world of the
same seed takes them over and has only the headers of its blocks made anew, which depend on when it began.
"""

from functools import lru_cache
from typing import NamedTuple

from sandbox.chain import scenarios
from sandbox.chain.scenarios.author import SPACING_S, Author, Branch, Part
from sandbox.chain.state import Chain

BEGINS_AT = 110  # blocks before the first part of the scenario


class Scenario(NamedTuple):
    """The chain of a seed as it was built, and the branches beside it."""

    chain: Chain
    branches: tuple[Branch, ...]


@lru_cache(maxsize=8)
def scenario(seed: int, exchange: tuple[Part, ...] = ()) -> Scenario:
    """The scenario of a seed, with what the exchange does in it. All its worlds share the chain: nobody changes it."""
    author = Author(seed)
    author.mine(BEGINS_AT)
    for build in scenarios.parts(*exchange):
        build(author)
    return Scenario(author.chain, tuple(author.branches))


def begun(seed: int, *, started_ms: int, exchange: tuple[Part, ...] = ()) -> Chain:
    """The chain of a fresh world: the scenario, ended when the world began; `exchange` builds the exchange's part."""
    scene = scenario(seed, exchange)
    started_s, height = started_ms // 1000, scene.chain.tip.height
    first_s = scene.chain.genesis.header.time
    times_s = [max(first_s + each, started_s - SPACING_S * (height - each)) for each in range(1, height + 1)]
    chain = scene.chain.redated(times_s, entered_ms=started_ms)
    for fork_height, length, has_bodies in scene.branches:
        fork = chain.at(fork_height)
        if fork is not None:
            chain.branch(fork, length, at_ms=fork.received_ms + 1000 * SPACING_S, has_bodies=has_bodies)
    return chain
