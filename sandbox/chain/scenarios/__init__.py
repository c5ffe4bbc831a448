"""The parts of the scenario that the chain of a fresh world begins with, in their order."""

from sandbox.chain.scenarios import cash_accounts, plain, properties, simple_ledger
from sandbox.chain.scenarios.author import Part


def parts(*exchange: Part) -> tuple[Part, ...]:
    """All parts; those of an exchange come when there are coins enough, and before what is left waiting."""
    return (
        plain.build,
        simple_ledger.build,
        cash_accounts.build,
        properties.build,
        properties.build_collectibles,
        *exchange,
        plain.leave_waiting,
        properties.leave_waiting,
    )
