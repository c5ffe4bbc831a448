"""The exchange's ledger and what the wallets hold, for programs."""

from desk.api.resources import listing, whole
from exchange_ops.ledger.api_shapes import BalanceOut, LedgerEntryOut
from exchange_ops.ledger.forms import LedgerFilter
from exchange_ops.ledger.models import Balance, LedgerEntry
from exchange_ops.shared.api.resources import OfAccount


@listing("ledger_list", LedgerEntryOut)
class Ledger(OfAccount):
    """The exchange's ledger as the desk has read it, fifty a page, the most recently changed first."""

    filter_form = LedgerFilter
    queryset = LedgerEntry.objects.all()
    key = "index"


@whole("balances_list", BalanceOut)
class Balances(OfAccount):
    """What the account holds in both wallets, with the time each was read."""

    queryset = Balance.objects.order_by("currency", "wallet")
