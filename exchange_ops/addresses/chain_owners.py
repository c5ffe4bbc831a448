"""Which addresses on the chain are ours: the deposit addresses that the exchange gave us, in whichever form."""

from collections.abc import Collection

from chaindata.shared import addresses as chain
from chaindata.shared import owned_addresses
from exchange_ops.addresses.destinations import CHAIN_CODE
from exchange_ops.addresses.models import DepositAddress

NAME = "deposit addresses"


def register() -> None:
    """Let the pages of the chain ask; called once, when the app is ready."""
    owned_addresses.register(NAME, owners)


def owners(wanted: Collection[str]) -> dict[str, str]:
    """Words for those of the printed addresses that others pay in to; the rows may spell them otherwise."""
    spelled = {form: printed for printed in wanted for form in _spellings(printed)}
    rows = DepositAddress.objects.filter(currency=CHAIN_CODE, address__in=spelled).select_related("account")
    return {spelled[row.address]: f"deposit address of {row.account.name}" for row in rows}


def _spellings(printed: str) -> set[str]:
    """Every form of it; none of what a service calls an address and is none."""
    try:
        return chain.spellings(printed)
    except chain.NotAnAddress:
        return set()
