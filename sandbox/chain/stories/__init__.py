"""The parts of the story that the chain of a fresh world tells, in their order."""

from sandbox.chain.stories import plain, waiting

PARTS = (plain.tell, waiting.tell)
