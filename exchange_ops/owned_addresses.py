"""Which addresses on the chain are ours: those that others pay in to, in whichever form, told to the chain's pages."""

from collections.abc import Collection

from chaindata.shared import addresses, owned_addresses
from exchange_ops.addresses.destinations import CHAIN_CODE
from exchange_ops.addresses.models import DepositAddress
from exchange_ops.subaccounts.models import SubAccountAddress


def register() -> None:
    """Let the chain's pages ask; called once, when the app is ready."""
    owned_addresses.register("deposit addresses", owners)


def owners(wanted: Collection[str]) -> dict[str, str]:
    """Words for those of the printed addresses that others pay in to; the rows may spell them otherwise."""
    spelled = {form: printed for printed in wanted for form in _spellings(printed)}
    chosen = {"currency": CHAIN_CODE, "address__in": spelled}
    subs = SubAccountAddress.objects.filter(**chosen).select_related("sub_account")
    found = {spelled[row.address]: f"deposit address of sub-account {row.sub_account}" for row in subs}
    rows = DepositAddress.objects.filter(**chosen).select_related("account")
    return found | {spelled[row.address]: f"deposit address of {row.account.name}" for row in rows}


def _spellings(printed: str) -> set[str]:
    """Every form of it; none of what a service calls an address and is none."""
    try:
        return addresses.spellings(printed)
    except addresses.NotAnAddress:
        return set()
