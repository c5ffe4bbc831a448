"""What testers do to the sandbox's chain through the control plane: blocks, reorganisations, payments to anybody, and
deposits of its coin, which the miner pays as anybody could."""

from decimal import Decimal

from chaindata.wire import addresses
from chaindata.wire.scripts import steps
from chaindata.wire.transactions import MOST_SAT, Output
from sandbox.amounts import EXACT
from sandbox.chain import wallet
from sandbox.chain.node.blocks import Block
from sandbox.chain.node.terms import Refused
from sandbox.chain.scenarios.author import MINER
from sandbox.chain.state import Chain
from sandbox.chain.wallet import CannotPay, Purse
from sandbox.exchange.accounts.address_forms import CASH_NETWORKS
from sandbox.exchange.accounts.movements import CoinMovements
from sandbox.exchange.funds import chain_blocks
from sandbox.exchange.handlers import arguments
from sandbox.exchange.handlers.arguments import Arguments
from sandbox.world.control import Control

MOST_BLOCKS = 1_000
DEEPEST = 100
MINE, REORGANISE, PAY = "chain/mine", "chain/reorg", "chain/pay"
_PLACES = 8  # of a satoshi


def mine(control: Control, params: Arguments) -> object:
    """So many blocks now, one unless told; the first takes in what waits."""
    arguments.only(params, "blocks")
    count = arguments.whole_number(params, "blocks", 1, 1, MOST_BLOCKS)
    blocks = [chain_blocks.mine(control.exchange) for _ in range(count)]
    return {"tip": tip_json(control.exchange.chain), "hashes": [block.hash for block in blocks]}


def reorganise(control: Control, params: Arguments) -> object:
    """Replaces the last blocks, one unless told, by a longer branch of empty ones; what was in them waits again."""
    arguments.only(params, "depth")
    chain = control.exchange.chain
    depth = arguments.whole_number(params, "depth", 1, 1, min(DEEPEST, chain.tip.height))
    replaced_blocks = [chain.at(height) for height in range(chain.tip.height - depth + 1, chain.tip.height + 1)]
    chain.reorganise(depth, at_ms=control.exchange.moment_ms)
    return {"tip": tip_json(chain), "replaced": [block.hash for block in replaced_blocks if block is not None]}


def pay(control: Control, params: Arguments) -> object:
    """Pays an address of the chain, in any form, out of the miner's coins; it waits for the next block."""
    arguments.only(params, "address", "amount")
    amount = EXACT.scaleb(arguments.amount(params), _PLACES)
    if amount != int(amount) or not wallet.DUST_SAT <= amount <= MOST_SAT:
        raise arguments.odd("amount", "must be coins with at most 8 digits after the point, 0.00000546 at least")
    try:
        address = addresses.read(arguments.word(params, "address"), networks=CASH_NETWORKS)
        output = Output(int(amount), steps.locking(address))
    except (addresses.NotAnAddress, steps.NotAScript) as problem:
        raise arguments.odd("address", f"is no address of this chain: {problem}") from None
    miner = Purse(control.exchange.seed, MINER)
    try:
        return {"txid": control.broadcast(wallet.pay(control.exchange.chain, miner, [output]).raw)}
    except CannotPay as problem:
        raise arguments.odd("amount", f"can't be paid: {problem}") from None
    except Refused as problem:
        raise arguments.odd("amount", f"can't be paid now: {problem.text}") from None


def pay_in(control: Control, movements: CoinMovements, address: str, amount: Decimal) -> str:
    """Pays a deposit address; the id of the payin that the exchange makes of it. Refuses with 10001."""
    value_sat = int(EXACT.scaleb(amount, _PLACES))
    if not wallet.DUST_SAT <= value_sat <= MOST_SAT:
        raise arguments.odd("amount", "must be 0.00000546 at least, and no more than there will ever be")
    output = Output(value_sat, steps.locking(addresses.read(address, networks=CASH_NETWORKS)))
    try:
        signed = wallet.pay(control.exchange.chain, Purse(control.exchange.seed, MINER), [output])
        control.exchange.chain.accept(signed.raw, at_ms=control.exchange.moment_ms)
    except (CannotPay, Refused) as problem:
        raise arguments.odd("amount", f"can't be paid now: {problem}") from None
    return movements.payin_of(signed.txid_bytes, address)


def tip_json(chain: Chain) -> dict[str, object]:
    """The tip of the active chain, and how many transactions wait."""
    tip: Block = chain.tip
    return {"height": tip.height, "hash": tip.hash, "time": tip.header.time, "waiting": len(chain.mempool)}


CHAIN_CONTROLS = {MINE: mine, REORGANISE: reorganise, PAY: pay}
