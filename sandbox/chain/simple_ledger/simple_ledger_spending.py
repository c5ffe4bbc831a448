"""Transactions that make, mint and send simple-ledger tokens with one private key, as services of the real chain do.

Source: chain data, Simple-ledger tokens (createTokenType1 and its neighbours); supplement 3. Fees are paid with coins
that hold no tokens, so that none are burnt by accident. A transaction is made and signed here, and sent by who asked
for it.
"""

from collections.abc import Sequence
from itertools import accumulate

from chaindata.wire import transactions
from chaindata.wire.keys import PrivateKey
from chaindata.wire.tokens import slp
from chaindata.wire.tokens.slp import CannotWrite, Genesis, Message, Mint, Send
from chaindata.wire.transactions import Output, Transaction
from sandbox.chain import wallet
from sandbox.chain.node.blocks import COINBASE_MATURITY
from sandbox.chain.node.terms import Owned
from sandbox.chain.simple_ledger.simple_ledger import TokenChain, TokenCoin
from sandbox.chain.wallet import DUST_SAT, Purse

BATON_VOUT = 2
_FRAME_BYTES = 16  # version, counts and locktime, generously
_INPUT_BYTES = 43  # without the unlocking script


class CannotSpend(ValueError):
    """The key's address has not what is needed, or the message can't be written; the text is a sentence."""


class Signer(Purse):
    """A purse of a key that somebody else made."""

    def __init__(self, key: PrivateKey) -> None:
        self.name = "the funding address"
        self.key = key


def create(
    chain: TokenChain, signer: Purse, message: Genesis, *, to: bytes, baton_to: bytes, change: bytes
) -> Transaction:
    """The genesis of a token: its quantity to one locking script, its baton to another, coins that are left to a third.

    Raises `CannotSpend`, as do the others.
    """
    return compose(chain, signer, message, _token_outputs(message, to, baton_to), spending=[], change=change)


def mint(chain: TokenChain, signer: Purse, message: Mint, *, to: bytes, baton_to: bytes, change: bytes) -> Transaction:
    """More of a token, by its baton, which goes on to `baton_to` unless the message ends the minting."""
    batons = [
        each
        for each in chain.simple_ledger.coins_of_script(signer.script)
        if each.holding.is_baton and each.holding.token_id == message.token_id
    ]
    if not batons:
        raise CannotSpend("The funding address does not hold the minting baton of the token.")
    return compose(chain, signer, message, _token_outputs(message, to, baton_to), spending=batons, change=change)


def _token_outputs(message: Genesis | Mint, to: bytes, baton_to: bytes) -> list[Output]:
    """The outputs for the quantity and for the baton."""
    return [Output(DUST_SAT, to), *([Output(DUST_SAT, baton_to)] if message.baton_vout is not None else [])]


def send(chain: TokenChain, signer: Purse, token_id: str, quantity: int, *, to: bytes, change: bytes) -> Transaction:
    """So many base units of a token to a locking script; what is left of them stays at the signer's address."""
    if quantity <= 0:
        raise CannotSpend("The amount has to be more than nothing.")
    held = [
        each
        for each in chain.simple_ledger.coins_of_script(signer.script)
        if each.holding.quantity and each.holding.token_id == token_id
    ]
    held.sort(key=lambda each: -each.holding.quantity)
    sums = list(accumulate(each.holding.quantity for each in held))
    enough = next((place for place, total in enumerate(sums) if total >= quantity), None)
    if enough is None:
        raise CannotSpend("The funding address does not hold as much of the token.")
    token_change = sums[enough] - quantity
    message = Send(token_id, (quantity, token_change) if token_change else (quantity,))
    paid = [Output(DUST_SAT, to), *([Output(DUST_SAT, signer.script)] if token_change else [])]
    return compose(chain, signer, message, paid, spending=held[: enough + 1], change=change)


def compose(
    chain: TokenChain,
    signer: Purse,
    message: Message,
    paid: Sequence[Output],
    *,
    spending: Sequence[TokenCoin],
    change: bytes,
) -> Transaction:
    """The signed transaction with this message, these outputs after it, and coins that are left to `change`.

    `spending` are spent whatever happens; coins without tokens are added until the fee of a satoshi a byte is paid.
    """
    try:
        outputs = [Output(0, slp.script_of(message)), *paid]
    except CannotWrite as problem:
        raise CannotSpend(str(problem)) from None
    coins = [Owned(each.txid_bytes, each.n, Output(each.value_sat, each.script), None, False) for each in spending]
    spare = _free_coins(chain, signer)
    least_sat = sum(each.value_sat for each in outputs) + _size(outputs) + _size([Output(0, change)])
    each_bytes = _INPUT_BYTES + signer.unlocking_size(signer.script)
    while (change_sat := sum(each.output.value_sat for each in coins) - least_sat - each_bytes * len(coins)) < 0:
        if not spare:
            raise CannotSpend(f"The funding address is short of {-change_sat} satoshis.")
        coins.append(spare.pop(0))
    if change_sat >= DUST_SAT:
        outputs.append(Output(change_sat, change))
    return wallet.signed(coins, outputs, [signer] * len(coins))


def _free_coins(chain: TokenChain, signer: Purse) -> list[Owned]:
    """The coins of a key that hold no tokens and can be spent now: confirmed ones and large ones first."""
    mature = chain.tip.height + 1 - COINBASE_MATURITY
    holding = {(each.txid_bytes, each.n) for each in chain.simple_ledger.coins_of_script(signer.script)}
    free = [
        each
        for each in chain.history(signer.script).coins
        if (each.txid_bytes, each.n) not in holding
        and not (each.is_coinbase and each.height is not None and each.height > mature)
    ]
    return sorted(free, key=lambda each: (each.height is None, -each.output.value_sat))


def _size(outputs: Sequence[Output]) -> int:
    return _FRAME_BYTES + sum(8 + len(transactions.sized(output.script)) for output in outputs)
