"""The parts of the scenario that the chain of a fresh world begins with, in their order."""

from sandbox.chain.scenarios import cash_accounts, collectibles, plain, properties, simple_ledger, waiting
from sandbox.chain.scenarios.author import Part


def parts(*exchange: Part) -> tuple[Part, ...]:
    """All parts; those of an exchange come when there are coins enough, and before what is left waiting."""
    return (
        plain.build,
        simple_ledger.build,
        cash_accounts.build,
        properties.build,
        collectibles.build,
        *exchange,
        waiting.build,
        properties.leave_waiting,
    )
