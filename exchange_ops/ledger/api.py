"""The exchange's ledger and what the wallets hold, for programs."""

from desk.api.resources import unpaged
from exchange_ops.ledger.api_shapes import BalanceOut
from exchange_ops.ledger.models import Balance
from exchange_ops.shared.api.resources import OfAccount


@unpaged("balances_list", BalanceOut)
class Balances(OfAccount):
    """What the account holds in both wallets, with the time each was read."""

    queryset = Balance.objects.order_by("currency", "wallet")
