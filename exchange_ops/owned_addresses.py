"""Which addresses of the chain are ours: those that others pay in to, told to whoever asks about the chain."""

from collections.abc import Collection

from chaindata.shared import addresses, owned_addresses
from exchange_ops.addresses.models import DepositAddress
from exchange_ops.subaccounts.models import SubAccountAddress

CURRENCY = "BCH"  # the coin of the chain
_ACCOUNT, _SUBACCOUNT = "our deposit address", "deposit address of a sub-account"


def register() -> None:
    """Let the chain's pages ask; called once, when the app is ready."""
    owned_addresses.register("deposit addresses", owners)


def owners(wanted: Collection[str]) -> dict[str, str]:
    """Words for those of the wanted addresses, as they are printed, that others pay in to."""
    known = {
        _ACCOUNT: DepositAddress.objects.filter(currency=CURRENCY).values_list("address", flat=True),
        _SUBACCOUNT: SubAccountAddress.objects.filter(currency=CURRENCY).values_list("address", flat=True),
    }
    found = {_printed(text): words for words, texts in known.items() for text in texts if text}
    return {address: found[address] for address in wanted if address in found}


def _printed(text: str) -> str:
    """As the chain's pages print it; what can't be read is nobody's."""
    try:
        return addresses.printed(text)
    except addresses.NotAnAddress:
        return ""
