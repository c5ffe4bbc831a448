"""What the chain-data service stands on: a chain, the settings that it obeys, and the one change that it can make."""

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.chain.state import Chain
from sandbox.settings.config import Config


@dataclass(frozen=True, slots=True)
class FullNode:
    """A node of the sandbox's chain, as handlers see it.

    `broadcast` takes a raw transaction into the mempool and the journal and returns its id; one that waits already is
    answered with its id again. It raises `sandbox.chain.node.terms.Refused`, and has changed nothing then.
    """

    chain: Chain
    config: Config
    broadcast: Callable[[bytes], str]
