"""The parts of the story that the chain of a fresh world tells, in their order."""

from sandbox.chain.scenarios import cash_accounts, collectibles, plain, properties, simple_ledger, waiting
from sandbox.exchange.funds import chain_history

PARTS = (
    plain.tell,
    simple_ledger.tell,
    cash_accounts.tell,
    properties.tell,
    collectibles.tell,
    chain_history.tell,
    waiting.tell,
    properties.leave_waiting,
)
