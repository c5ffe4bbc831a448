"""A deposit of the coin of the sandbox's own chain: the miner pays a deposit address there, as anybody could."""

from decimal import Decimal

from chaindata.wire import addresses
from chaindata.wire.scripts import steps
from chaindata.wire.transactions import MOST_SAT, Output
from sandbox.amounts import EXACT
from sandbox.chain import wallet
from sandbox.chain.node.terms import Refused
from sandbox.chain.scenarios.author import MINER
from sandbox.chain.wallet import DUST_SAT, CannotPay, Purse
from sandbox.exchange.accounts.address_forms import CASH_NETWORKS
from sandbox.exchange.accounts.movements import CoinMovements
from sandbox.exchange.handlers import arguments
from sandbox.world.control import Control

_PLACES = 8  # of a satoshi


def pay_in(control: Control, movements: CoinMovements, address: str, amount: Decimal) -> str:
    """Pays a deposit address; the id of the payin that the exchange makes of it. Refuses with 10001."""
    value_sat = int(EXACT.scaleb(amount, _PLACES))
    if not DUST_SAT <= value_sat <= MOST_SAT:
        raise arguments.odd("amount", "must be 0.00000546 at least, and no more than there will ever be")
    output = Output(value_sat, steps.locking(addresses.read(address, networks=CASH_NETWORKS)))
    try:
        signed = wallet.pay(control.exchange.chain, Purse(control.exchange.seed, MINER), [output])
        control.exchange.chain.accept(signed.raw, at_ms=control.exchange.moment_ms)
    except (CannotPay, Refused) as problem:
        raise arguments.odd("amount", f"can't be paid now: {problem}") from None
    return movements.payin_of(signed.txid_bytes, address)
