"""The exchange's deposits and payouts on the sandbox's own chain: nothing of them is made up.

Whoever pays a deposit address, by whatever way, makes a payin: pending when it is seen, credited at the currency's
confirmations. A payout is signed by the exchange's purse and broadcast; blocks confirm it, and a reorganisation takes
confirmations back. What has been credited or told as paid stays so, as with real exchanges.

Nothing here is journaled: the same blocks and transactions in the same order make the same movements again.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from chaindata.wire import addresses, hashing
from chaindata.wire.addresses import Network
from chaindata.wire.scripts import steps
from chaindata.wire.transactions import Output
from chaindata.wire.transactions import Transaction as ChainTransaction
from sandbox.chain.node.blocks import Block
from sandbox.chain.node.terms import Refused
from sandbox.chain.wallet import DUST_SAT
from sandbox.exchange.accounts import address_forms
from sandbox.exchange.accounts.addresses import OnChain
from sandbox.exchange.accounts.coins import Coins, NotEnoughCoins
from sandbox.exchange.accounts.transactions import Payout, Transaction
from sandbox.exchange.funds import network
from sandbox.exchange.state import Exchange

# Confirmations after which a payout is not watched any more: as many as make a coinbase mature, and as many blocks as
# the control plane replaces at once. What so deep a reorganisation takes out waits again, and is mined anew.
BURIED = 100


@dataclass(frozen=True, slots=True)
class Sent:
    """A payout that was given a transaction. `raw` is empty when that was never broadcast (`payout_on_chain` never);
    then the confirmations that are told are counted from `height`, that of the tip when it was made up."""

    txid_bytes: bytes
    raw: bytes
    height: int


class Movements:
    """What the exchange knows of its chain: how far it followed it, what waits for confirmations, and for coins."""

    def __init__(self, exchange: Exchange) -> None:
        self.chain = exchange.chain
        self._exchange = exchange
        self._coins = Coins(self.chain, exchange.seed, exchange.addresses.by_script)
        self._sent: dict[str, Sent] = {}
        self._watched: dict[str, None] = {}  # payouts whose confirmations still matter, by id
        self._short: dict[str, None] = {}  # payouts that wait for coins
        self._payins: dict[tuple[bytes, str], str] = {}  # by transaction and address
        self._open: dict[str, bytes] = {}  # payins that wait for confirmations
        self._followed = self.chain.tip
        self.chain.listeners.append(self._changed)

    def _changed(self) -> None:
        """The chain or its mempool is another one than a moment ago."""
        for script in self._exchange.addresses.by_script:
            for txid_bytes in self.chain.mempool.touching(script):
                self.see(txid_bytes)
        if self.chain.tip is not self._followed:
            self._follow()

    # Payins ----------------------------------------------------------------------------------------------------------

    def payin_of(self, txid_bytes: bytes, address: str) -> str:
        """The id of the payin that a transaction made at a deposit address; empty when it made none."""
        return self._payins.get((txid_bytes, address_forms.spelled_alike(address)), "")

    def see(self, txid_bytes: bytes) -> None:
        """Takes in a transaction of the chain or its mempool: a payin for each deposit address that it pays."""
        occurrence = self.chain.find(txid_bytes)
        if occurrence is not None:
            self._take_in(occurrence.transaction, txid_bytes)

    def _take_in(self, transaction: ChainTransaction, txid_bytes: bytes) -> None:
        received: dict[OnChain, int] = defaultdict(int)
        for output in transaction.outputs:
            if paid := self._exchange.addresses.by_script.get(output.script):
                received[paid] += output.value_sat
        for paid, value_sat in received.items():
            if (txid_bytes, paid.address) not in self._payins:
                self._arrive(transaction, txid_bytes, paid, value_sat)

    def _arrive(self, transaction: ChainTransaction, txid_bytes: bytes, paid: OnChain, value_sat: int) -> None:
        payin = network.arrive(
            self._exchange,
            paid.account,
            self._exchange.currencies[paid.currency],
            Decimal(value_sat).scaleb(-8),
            address=paid.address,
            chain_hash=hashing.display_hex(txid_bytes),
            senders=self._senders(transaction),
        )
        self._payins[txid_bytes, paid.address] = payin.id
        self._open[payin.id] = txid_bytes

    def _senders(self, transaction: ChainTransaction) -> tuple[str, ...]:
        spent = (self.chain.output(each.txid_bytes, each.index) for each in transaction.inputs)
        owners = (steps.addresses_of(output.script, Network.REGTEST) for output in spent if output is not None)
        return tuple(dict.fromkeys(owner.cash_address for each in owners for owner in each))

    # Payouts ---------------------------------------------------------------------------------------------------------

    def pay_out(self, payout: Payout) -> str:
        """Signs and broadcasts a payout, as the configuration has it; the hash that the exchange tells of it, or none
        while its purse is short: then it is tried again with the next block. No payout is ever paid twice."""
        if payout.id in self._sent:
            return hashing.display_hex(self._sent[payout.id].txid_bytes)
        exchange = self._exchange
        if exchange.config.payout_on_chain == "never":
            made_up = bytes.fromhex(address_forms.public_key(f"{exchange.seed}|{payout.id}|never"))
            return self._keep(payout, Sent(made_up, b"", self.chain.tip.height))
        try:
            signed = self._coins.payment(self._output(payout))
            self.chain.accept(signed.raw, at_ms=exchange.moment_ms)
        except (NotEnoughCoins, Refused):
            self._short[payout.id] = None
            return ""
        return self._keep(payout, Sent(signed.txid_bytes, signed.raw, self.chain.tip.height))

    def remember(self, payout: Payout, txid_bytes: bytes) -> None:
        """Lets a transaction that stands in the chain already be what pays the payout."""
        occurrence = self.chain.find(txid_bytes)
        if occurrence is None or occurrence.block is None:
            raise LookupError(f"the chain has no transaction {hashing.display_hex(txid_bytes)}")
        self._keep(payout, Sent(txid_bytes, occurrence.transaction.raw, occurrence.block.height))

    def _keep(self, payout: Payout, sent: Sent) -> str:
        self._sent[payout.id] = sent
        self._watched[payout.id] = None
        return hashing.display_hex(sent.txid_bytes)

    def _output(self, payout: Payout) -> Output:
        exchange = self._exchange
        address, value_sat = exchange.transaction(payout.id).address, int(payout.net.scaleb(8))
        if exchange.config.payout_on_chain == "short":
            value_sat = max(DUST_SAT, value_sat - value_sat // 10)
        elif exchange.config.payout_on_chain == "elsewhere":
            address = address_forms.make("cash", f"{exchange.seed}|{payout.id}|elsewhere")
        return Output(value_sat, steps.locking(addresses.read(address, networks=address_forms.CASH_NETWORKS)))

    # Blocks ----------------------------------------------------------------------------------------------------------

    def _follow(self) -> None:
        """Brings everything up to the chain's present tip."""
        coming = list(self._new_blocks())
        self._followed = self.chain.tip
        for block in coming:
            for transaction, txid_bytes in zip(block.transactions, block.txids_bytes, strict=True):
                self._take_in(transaction, txid_bytes)
        self._confirm_payins()
        self._confirm_payouts()
        self._try_again()

    def _new_blocks(self) -> Iterator[Block]:
        fork: Block | None = self._followed
        while fork is not None and not self.chain.is_active(fork):
            fork = self.chain.previous(fork)
        for height in range(fork.height + 1 if fork is not None else 0, self.chain.tip.height + 1):
            block = self.chain.at(height)
            if block is not None:
                yield block

    def _confirm_payins(self) -> None:
        for payin_id, txid_bytes in list(self._open.items()):
            payin = self._exchange.transaction(payin_id)
            if network.confirm_payin_so_far(self._exchange, payin, self._confirmations(txid_bytes)):
                del self._open[payin_id]

    def _confirm_payouts(self) -> None:
        for payout_id in list(self._watched):
            payout, sent = self._exchange.payouts[payout_id], self._sent[payout_id]
            if sent.raw:
                self._keep_alive(sent)
                count = self._confirmations(sent.txid_bytes)
            else:
                count = max(0, self.chain.tip.height - sent.height)
            if not payout.ended:
                network.confirm_payout_so_far(self._exchange, payout, count)
            elif count >= BURIED:
                del self._watched[payout_id]

    def _keep_alive(self, sent: Sent) -> None:
        """Broadcasts the same transaction again when neither the chain nor the mempool has it any more."""
        if self.chain.find(sent.txid_bytes) is None:
            try:
                self.chain.accept(sent.raw, at_ms=self._exchange.moment_ms)
            except Refused:
                return  # what it spent is gone; it is never paid by another transaction instead

    def _try_again(self) -> None:
        short, self._short = self._short, {}
        for payout_id in short:
            payout = self._exchange.payouts[payout_id]
            if not payout.ended:
                network.broadcast(self._exchange, payout)

    def confirmations_of(self, transaction: Transaction) -> int:
        """How many blocks the chain has on a payin or payout at the moment."""
        sent = self._sent.get(transaction.id)
        if sent is not None and not sent.raw:
            return max(0, self.chain.tip.height - sent.height)
        return self._confirmations(bytes.fromhex(transaction.hash)[::-1])

    def _confirmations(self, txid_bytes: bytes) -> int:
        occurrence = self.chain.find(txid_bytes)
        return 0 if occurrence is None or occurrence.block is None else self.chain.confirmations(occurrence.block)
