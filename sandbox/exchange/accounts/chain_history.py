"""The exchange's part of the chain's beginning: its purse gets the coins that back its customers' balances, somebody
pays in, and a supplier is paid out. The exchange finds both in its books when the world begins."""

from chaindata.wire import addresses
from chaindata.wire.scripts import steps
from chaindata.wire.transactions import Output
from sandbox.chain.scenarios.author import Author
from sandbox.exchange.accounts import address_forms
from sandbox.exchange.accounts.addresses import deposit_purse
from sandbox.exchange.accounts.coins import PURSE
from sandbox.settings.keys import DESK_ACCOUNT

COIN_SAT = 100_000_000
PAYIN_SAT, PAYOUT_SAT = 1_225_000_000, 310_000_000
PURSE_COINS, PURSE_COIN_SAT = 36, 35 * COIN_SAT
PAYER = "customer"
BEGINS_AT = 145  # blocks, at least


def build(author: Author) -> None:
    """Spends about 1,300 coins of the miner's, which have to be old enough."""
    author.mine(max(1, BEGINS_AT - author.chain.tip.height))
    for _ in range(4):
        paid = [Output(PURSE_COIN_SAT, author.purse(PURSE).script) for _ in range(PURSE_COINS // 4)]
        author.pay(author.miner, paid)
    author.fund(PAYER, 20 * COIN_SAT)
    author.mine()
    author.pay(PAYER, [Output(PAYIN_SAT, payin_script(author.seed))])
    author.mine(6)
    author.pay(PURSE, [Output(PAYOUT_SAT, supplier_script(author.seed))])
    author.mine(4)


def payin_script(seed: int) -> bytes:
    """The locking script of the desk's first deposit address."""
    return deposit_purse(seed, DESK_ACCOUNT, 0).script


def supplier_address(seed: int) -> str:
    """Who is paid out before the world begins."""
    return address_forms.make("cash", f"{seed}|supplier|BCH")


def supplier_script(seed: int) -> bytes:
    """The locking script of the address."""
    return steps.locking(addresses.read(supplier_address(seed)))
