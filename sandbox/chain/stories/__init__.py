"""The parts of the story that the chain of a fresh world tells, in their order."""

from sandbox.chain.stories import cash_accounts, exchange, plain, simple_ledger, waiting

PARTS = (plain.tell, simple_ledger.tell, cash_accounts.tell, exchange.tell, waiting.tell)
