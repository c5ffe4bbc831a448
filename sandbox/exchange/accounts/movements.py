"""What the exchange asks of its coin's movements on the sandbox's own chain; `exchange.funds.onchain` makes them."""

from typing import Protocol

from sandbox.exchange.accounts.transactions import Payout, Transaction


class CoinMovements(Protocol):
    """The payins and payouts of the coin that is one of a chain."""

    def payin_of(self, txid_bytes: bytes, address: str) -> str:
        """The id of the payin that a transaction made at a deposit address; empty when it made none."""
        ...

    def pay_out(self, payout: Payout) -> str:
        """Signs and broadcasts a payout; the hash that is told of it, or none while the purse is short."""
        ...

    def confirmations_of(self, transaction: Transaction) -> int:
        """How many blocks the chain has on a payin or payout at the moment."""
        ...
