"""The parts of the story that the chain of a fresh world tells, in their order."""

from sandbox.chain.stories import (
    cash_accounts,
    collectibles,
    exchange,
    plain,
    properties,
    simple_ledger,
    waiting,
)

PARTS = (
    plain.tell,
    simple_ledger.tell,
    cash_accounts.tell,
    properties.tell,
    collectibles.tell,
    exchange.tell,
    waiting.tell,
    properties.leave_waiting,
)
