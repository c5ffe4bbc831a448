"""The exchange's ledger and what the wallets hold, for programs."""

from desk.api.resources import unpaged
from exchange_ops.ledger.api_shapes import BalanceOut
from exchange_ops.ledger.models import Balance
from exchange_ops.shared.api.resources import OfAccount


@unpaged("balances_list", BalanceOut)
class Balances(OfAccount):
    """The account's balances in both wallets, each with the time of its last sync."""

    queryset = Balance.objects.order_by("currency", "wallet")
