"""Transactions: decoded, fetched, sent. Source: chain data, Raw transactions and Transaction; supplement 1.2, 1.8, 8.

Sending is the one act of this service, and never blind: the network is asked for the transaction first, and after a
lost answer again. Nothing is sent twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from chaindata.client.core import Absent, Calls, Declined
from chaindata.wire import catalogue, hashing, transactions
from chaindata.wire.records import chain
from chaindata.wire.refusals import Case, Spoken
from wire.errors import BadReply, CallFailed, OutcomeUnknown, Unreachable


class Sent(Enum):
    """How a transaction came to be known to the network."""

    ALREADY_KNOWN = "it was known before, and nothing was sent"
    TAKEN = "the service took it"
    FOUND = "its answer was lost or a refusal, and the network has it"


@dataclass(frozen=True, slots=True)
class Broadcast:
    """A transaction that the network has."""

    txid: str
    sent: Sent


class TransactionCalls(Calls):
    """Transactions by their ids and their bytes."""

    def decode_transaction(self, *, raw: str) -> chain.DecodedTransaction:
        """The words of a raw transaction."""
        found: chain.DecodedTransaction = self.call("decode_transaction", hex=raw)
        return found

    def decode_transactions(self, *, raws: Sequence[str]) -> dict[str, chain.DecodedTransaction]:
        """The same for many, by their hexadecimal text."""
        return self._many("decode_transactions", raws)

    def decode_script(self, *, raw: str) -> chain.DecodedScript:
        """The words of a script."""
        found: chain.DecodedScript = self.call("decode_script", hex=raw)
        return found

    def decode_scripts(self, *, raws: Sequence[str]) -> dict[str, chain.DecodedScript]:
        """The same for many, by their hexadecimal text."""
        return self._many("decode_scripts", raws)

    def get_raw_transaction(self, *, txid: str, verbose: bool = False) -> str | chain.DecodedTransaction:
        """A transaction of chain or mempool in hexadecimal, or with `verbose` in words; else `Absent`."""
        found: str | chain.DecodedTransaction = self.call("get_raw_transaction", txid=txid, verbose=verbose)
        return found

    def get_raw_transactions(
        self, *, txids: Sequence[str], verbose: bool = False
    ) -> dict[str, str | chain.DecodedTransaction]:
        """Many transactions by their ids, which are computed from the bytes."""
        return self._many("get_raw_transactions", txids, verbose=verbose)

    def get_transaction_details(self, *, txid: str) -> chain.Transaction:
        """A transaction with what it spends; `Absent` for an unknown one."""
        found: chain.Transaction = self.call("get_transaction_details", txid=txid)
        return found

    def get_details_of_transactions(self, *, txids: Sequence[str]) -> dict[str, chain.Transaction]:
        """The same for many, by their ids."""
        return self._many("get_details_of_transactions", txids)

    # Sending ---------------------------------------------------------------------------------------------------------

    def send_raw_transaction(self, *, raw: str) -> str:
        """Send a transaction, once, and give its id as the service tells it; `broadcast` is what looks first.

        One that is too long for an address travels in a body. Raises `Declined` when it was refused, `Unreachable` when
        it was not sent, which is always so of one that is too long for a body as well, and `OutcomeUnknown`.
        """
        if len(raw) > catalogue.MOST_HEX_IN_BODY:
            raise Unreachable("the transaction is longer than the chain-data service takes")
        answer: str | list[str]
        if len(raw) > catalogue.MOST_HEX_IN_PATH:
            answer = self._send_long(raw)
        else:
            answer = self.call("send_raw_transaction", hex=raw)
        if isinstance(answer, str):
            return answer
        if len(answer) != 1:
            raise OutcomeUnknown(f"One transaction was sent, and {len(answer)} were named.")
        return answer[0]

    def _send_long(self, raw: str) -> list[str]:
        try:
            return self.send_raw_transactions(raws=[raw])
        except OutcomeUnknown as failure:
            status, text = failure.evidence.get("status"), failure.evidence.get("text")
            if isinstance(status, int) and 400 <= status < 500 and status != 408 and isinstance(text, str) and text:
                raise Declined(Spoken(Case.WRONG, text), status) from None  # there was no other one before it
            raise

    def send_raw_transactions(self, *, raws: Sequence[str]) -> list[str]:
        """Send several, one after another, in one call of 20 at most; their ids as the service tells them.

        A refusal is an `OutcomeUnknown`: those before the refused one stay sent. Find out by looking for each.
        """
        found: list[str] = self.call("send_raw_transactions", hexes=list(raws))
        return found

    def broadcast(self, *, raw: str) -> Broadcast:
        """Bring a transaction to the network: look for it, send it once when it is not there, look again in doubt.

        Raises `Declined` when it was refused and is not there, `Unreachable` when it was not sent, and
        `OutcomeUnknown` when it can't be told: look for its id later, and never send again before.
        """
        txid = transactions.read(hashing.from_hex(raw, most_bytes=transactions.MOST_BYTES)).txid
        if self.is_known(txid=txid):
            return Broadcast(txid, Sent.ALREADY_KNOWN)
        try:
            answer = self.send_raw_transaction(raw=raw)
        except (Declined, OutcomeUnknown) as failure:
            if self._is_there(txid):
                return Broadcast(txid, Sent.FOUND)
            raise failure from None
        if answer.lower() != txid:
            if self._is_there(txid):
                return Broadcast(txid, Sent.FOUND)
            raise OutcomeUnknown("The service named another transaction than the one that was sent.", {"txid": txid})
        return Broadcast(txid, Sent.TAKEN)

    def is_known(self, *, txid: str) -> bool:
        """Whether the network has the transaction, in its chain or waiting: its bytes say so."""
        try:
            raw = self.get_raw_transaction(txid=txid)
        except Absent:
            return False
        try:
            return isinstance(raw, str) and transactions.read(bytes.fromhex(raw)).txid == txid
        except ValueError:
            raise BadReply("the transaction of the reply can't be read") from None

    def _is_there(self, txid: str) -> bool:
        try:
            return self.is_known(txid=txid)
        except CallFailed:
            return False  # nobody knows: what was lost stays lost
