"""The rules that the database keeps about the exchange account, by room."""

from typing import Final

from desk.machines.guards import Guards
from exchange_ops.addresses import guards as addresses
from exchange_ops.ledger import guards as ledger
from exchange_ops.orders import guards as orders
from exchange_ops.orders.brackets import guards as brackets
from exchange_ops.policy import guards as policy
from exchange_ops.policy_changes import guards as policy_changes
from exchange_ops.positions import guards as positions
from exchange_ops.shared import guards as accounts
from exchange_ops.subaccounts import guards as subaccounts
from exchange_ops.transfers import guards as transfers
from exchange_ops.withdrawals import guards as withdrawals

GUARDS: Final[dict[str, Guards]] = {
    "withdrawals": withdrawals.GUARDS,
    "transfers": transfers.GUARDS,
    "orders": orders.GUARDS,
    "brackets": brackets.GUARDS,
    "margin": positions.GUARDS,
    "sub-accounts": subaccounts.GUARDS,
    "addresses": addresses.GUARDS,
    "policy": policy.GUARDS,
    "policy changes": policy_changes.GUARDS,
    "ledger": ledger.GUARDS,
    "accounts": accounts.GUARDS,
}
