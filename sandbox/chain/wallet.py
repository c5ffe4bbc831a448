"""Purses: private keys of the sandbox's own, made from the seed, and the transactions they pay with.

A purse picks confirmed coins before those that still wait, large ones before small; coins of dust size are never
picked unasked, for tokens lie on them.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from hashlib import sha256

from chaindata.wire import keys, transactions
from chaindata.wire.addresses import Address, Network
from chaindata.wire.keys import PrivateKey
from chaindata.wire.scripts import sighash, steps
from chaindata.wire.scripts.sighash import Digests
from chaindata.wire.transactions import Input, Output, Transaction
from sandbox.chain.node.active_chain import ActiveChain
from sandbox.chain.node.blocks import COINBASE_MATURITY
from sandbox.chain.node.terms import Outpoint, Owned

DUST_SAT = 546
LEAST_PICKED_SAT = 1_000
MOST_SIGNATURE_BYTES = 73  # in DER, with the hash type
NEXT_SEQUENCE = transactions.FINAL_SEQUENCE


class CannotPay(ValueError):
    """The purse has not enough, or does not own what it should spend."""


class Purse:
    """One key: what pays to its hash, or to the key itself, is its own."""

    def __init__(self, seed: int, name: str, network: Network = Network.REGTEST) -> None:
        digest = sha256(f"countersign sandbox purse|{seed}|{name}".encode()).digest()
        self.name = name
        self.key: PrivateKey = keys.of_number(int.from_bytes(digest, "big") % (keys.ORDER - 1) + 1, network)

    @cached_property
    def address(self) -> Address:
        """Its address."""
        return self.key.address

    @cached_property
    def script(self) -> bytes:
        """The locking script of its address."""
        return steps.locking(self.address)

    @cached_property
    def key_script(self) -> bytes:
        """The locking script that names its public key itself."""
        return steps.key_locking(self.key.public_key)

    def unlocking_size(self, locking: bytes) -> int:
        """The most bytes of the script that unlocks an output of it. Raises `CannotPay` for outputs of others."""
        if locking == self.script:
            return 1 + MOST_SIGNATURE_BYTES + 1 + len(self.key.public_key)
        if locking == self.key_script:
            return 1 + MOST_SIGNATURE_BYTES
        raise CannotPay(f"the purse {self.name} does not hold the key to this output")

    def unlocking(self, digests: Digests, index: int, spent: Output) -> bytes:
        """The script that unlocks an output of it for input `index`."""
        self.unlocking_size(spent.script)
        signature = steps.push(_signature(self.key, digests, index, spent.script, spent.value_sat))
        return signature if spent.script == self.key_script else signature + steps.push(self.key.public_key)


class Vault:
    """Several purses together: so many of them must sign, under the hash of a script."""

    def __init__(self, name: str, purses: Sequence[Purse], required: int) -> None:
        self.name = name
        self.purses = tuple(purses)
        self.required = required
        self.redeem = steps.multisig(required, [purse.key.public_key for purse in purses])
        self.address = steps.script_hash_address(self.redeem, purses[0].key.network)
        self.script = steps.locking(self.address)

    def unlocking_size(self, locking: bytes) -> int:
        """As of a purse."""
        if locking != self.script:
            raise CannotPay(f"the vault {self.name} does not hold the keys to this output")
        return 1 + self.required * (1 + MOST_SIGNATURE_BYTES) + len(steps.push(self.redeem))

    def unlocking(self, digests: Digests, index: int, spent: Output) -> bytes:
        """As of a purse, signed by the first of them."""
        self.unlocking_size(spent.script)
        signed = [
            _signature(purse.key, digests, index, self.redeem, spent.value_sat)
            for purse in self.purses[: self.required]
        ]
        return b"\x00" + b"".join(steps.push(each) for each in (*signed, self.redeem))


def pay(
    chain: ActiveChain,
    purse: Purse | Vault,
    outputs: Sequence[Output],
    *,
    spending: Sequence[Outpoint] = (),
    change: bool = True,
    change_at: int | None = None,
    fee_rate: int = 1,
    locktime: int = 0,
    version: int = 2,
) -> Transaction:
    """A signed transaction that is not sent yet. Raises `CannotPay`.

    `spending` are spent first, in this order, whatever their size; then the purse picks what is missing. What is left
    over goes back to it as output `change_at` (the last one unless told), or to the miner without `change` and when it
    would be dust. `fee_rate` in satoshis a byte.
    """
    coins = [_named(chain, txid_bytes, n) for txid_bytes, n in spending]
    needed_sat = sum(output.value_sat for output in outputs)
    base = 10 + sum(len(_raw(output)) for output in outputs) + (len(_raw(Output(0, purse.script))) if change else 0)
    least = max(0, transactions.LEAST_BYTES - base)
    spare = _spare(chain, purse, spending)
    while True:
        size = base + max(least, sum(41 + 2 + purse.unlocking_size(coin.output.script) for coin in coins))
        change_sat = sum(coin.output.value_sat for coin in coins) - needed_sat - fee_rate * size
        if coins and change_sat >= 0:
            break
        coin = next(spare, None)
        if coin is None:
            raise CannotPay(f"{purse.name} is short of {-change_sat} satoshis")
        coins.append(coin)
    paid = list(outputs)
    if change and change_sat >= DUST_SAT:
        paid.insert(len(paid) if change_at is None else change_at, Output(change_sat, purse.script))
    return signed(coins, paid, [purse] * len(coins), locktime=locktime, version=version)


def signed(
    coins: Sequence[Owned],
    outputs: Sequence[Output],
    owners: Sequence[Purse | Vault],
    *,
    locktime: int = 0,
    version: int = 2,
) -> Transaction:
    """The transaction that spends these coins, each unlocked by its owner."""
    sequence = NEXT_SEQUENCE - 1 if locktime else NEXT_SEQUENCE
    inputs = [Input(coin.txid_bytes, coin.n, b"", sequence) for coin in coins]
    bare = transactions.build(inputs=inputs, outputs=outputs, version=version, locktime=locktime)
    digests = Digests(bare)
    unlocked = [
        Input(spent.txid_bytes, spent.index, owner.unlocking(digests, index, coin.output), sequence)
        for index, (spent, coin, owner) in enumerate(zip(inputs, coins, owners, strict=True))
    ]
    return transactions.build(inputs=unlocked, outputs=outputs, version=version, locktime=locktime)


def _signature(key: PrivateKey, digests: Digests, index: int, script_code: bytes, value_sat: int) -> bytes:
    digest = digests.digest(index, script_code=script_code, value_sat=value_sat)
    return key.sign(digest) + bytes([sighash.ALL_FORKID])


def _raw(output: Output) -> bytes:
    return bytes(8) + transactions.sized(output.script)


def _named(chain: ActiveChain, txid_bytes: bytes, n: int) -> Owned:
    output = chain.output(txid_bytes, n)
    if output is None or chain.spender(txid_bytes, n) is not None:
        raise CannotPay(f"there is no unspent output {txid_bytes[::-1].hex()}:{n}")
    return Owned(txid_bytes, n, output, None, False)


def _spare(chain: ActiveChain, purse: Purse | Vault, named: Sequence[Outpoint]) -> Iterator[Owned]:
    """The coins that may be picked, in the order in which they are."""
    mature = chain.tip.height + 1 - COINBASE_MATURITY
    taken = set(named)
    coins = [
        coin
        for coin in chain.history(purse.script).coins
        if coin.output.value_sat > LEAST_PICKED_SAT
        and (coin.txid_bytes, coin.n) not in taken
        and not (coin.is_coinbase and coin.height is not None and coin.height > mature)
    ]
    return iter(sorted(coins, key=lambda coin: (coin.height is None, -coin.output.value_sat)))
