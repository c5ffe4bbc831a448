"""The exchange's own purse on the sandbox's chain: which coins are its, and the transactions it signs with them.

Its coins lie on one address of its own and on the deposit addresses of the accounts; every key follows from the seed.
The same coins and the same payment make the same transaction, so a journal that is lived again makes the same chain.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from chaindata.wire.transactions import Output, Transaction
from sandbox.chain import wallet
from sandbox.chain.node.active_chain import ActiveChain
from sandbox.chain.node.terms import Owned
from sandbox.chain.wallet import DUST_SAT, Purse
from sandbox.exchange.accounts.addresses import OnChain

PURSE = "exchange"
MOST_INPUTS = 200
_BYTES_OF_INPUT, _BYTES_OF_OUTPUT, _BYTES_OF_REST = 150, 34, 12  # never less than what is signed has; one satoshi each


class NotEnoughCoins(Exception):
    """The purse has not the coins that a payment needs, or none that it may spend already."""


class Held(NamedTuple):
    """A coin, and the purse it belongs to."""

    coin: Owned
    purse: Purse


class Coins:
    """The exchange's coins on one chain; `deposits` are its deposit addresses by their locking scripts."""

    def __init__(self, chain: ActiveChain, seed: int, deposits: Mapping[bytes, OnChain]) -> None:
        self._chain = chain
        self._deposits = deposits
        self.purse = Purse(seed, PURSE)

    def payment(self, output: Output) -> Transaction:
        """A signed transaction that pays `output` and nobody else but ourselves. Raises `NotEnoughCoins`."""
        chosen: list[Held] = []
        have_sat = 0
        for held in self._in_turn():
            chosen.append(held)
            have_sat += held.coin.output.value_sat
            change_sat = have_sat - output.value_sat - _fee_sat(len(chosen))
            if change_sat >= 0:
                change = (Output(change_sat, self.purse.script),) if change_sat >= DUST_SAT else ()
                coins, owners = [each.coin for each in chosen], [each.purse for each in chosen]
                return wallet.signed(coins, (output, *change), owners)
            if len(chosen) == MOST_INPUTS:
                break
        raise NotEnoughCoins(f"{len(chosen)} coins are not enough for {output.value_sat} satoshis.")

    def _in_turn(self) -> Iterator[Held]:
        """Confirmed coins first, the largest of them first; then the change of our own payments. What others paid in is
        not spent before it is confirmed: it may never be."""
        every = [held for held in self._every() if not held.coin.is_coinbase]
        yield from sorted((held for held in every if held.coin.height is not None), key=_largest_first)
        own = (held for held in every if held.coin.height is None and held.purse is self.purse)
        yield from sorted(own, key=_largest_first)

    def _every(self) -> Iterator[Held]:
        for purse in (self.purse, *(deposit.purse for deposit in self._deposits.values())):
            for coin in self._chain.history(purse.script).coins:
                yield Held(coin, purse)


def _largest_first(held: Held) -> tuple[int, bytes, int]:
    return -held.coin.output.value_sat, held.coin.txid_bytes, held.coin.n


def _fee_sat(inputs: int) -> int:
    """What a transaction with so many inputs and two outputs pays the miner."""
    return _BYTES_OF_INPUT * inputs + 2 * _BYTES_OF_OUTPUT + _BYTES_OF_REST
