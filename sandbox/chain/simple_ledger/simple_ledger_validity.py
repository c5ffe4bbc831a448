"""Which transactions move simple-ledger tokens by the rules, and what their outputs then hold.

Source: supplement 3, Validity. A verdict follows from a transaction and its ancestors alone, so it holds for ever, on
whatever branch or in whatever mempool the transaction stands; it is computed once.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from chaindata.wire import refusals
from chaindata.wire.scripts.opcodes import OP_RETURN
from chaindata.wire.tokens import slp, slp_rules
from chaindata.wire.tokens.slp import Genesis, Message, Mint, NotAMessage, Problem, Send
from chaindata.wire.tokens.slp_rules import Holding
from chaindata.wire.transactions import Input, Transaction

_RETURN = bytes([OP_RETURN])
_LOKAD_WITHIN = 10  # bytes: OP_RETURN, the longest push opcode with its length, and the mark itself


class Verdict(msgspec.Struct, frozen=True):
    """What a transaction says to the token layer, and does there.

    `message` is None when it can't be read. `reason` is why the transaction moves no tokens, None for a valid one.
    `holdings` says what its outputs hold, by number. `claims` says that output 0 bears the mark of the protocol.
    """

    claims: bool
    message: Message | None
    reason: str | None
    holdings: dict[int, Holding]

    @property
    def is_valid(self) -> bool:
        """Whether it moves tokens by the rules."""
        return self.reason is None

    @property
    def token_id(self) -> str | None:
        """The token that a MINT or SEND names; a GENESIS names none, since its own id is the token's."""
        return self.message.token_id if isinstance(self.message, Mint | Send) else None


NOT_A_MESSAGE = Verdict(False, None, refusals.SLP_NOT_A_MESSAGE, {})


def judge(transaction: Transaction, spent: Iterable[Holding]) -> Verdict:
    """The verdict on one transaction, given what the outputs that it spends hold."""
    verdict = _read(transaction)
    if verdict.message is None:
        return verdict
    reason = slp_rules.reason_invalid(verdict.message, spent)
    holdings = (
        {} if reason else slp_rules.holdings(verdict.message, txid=transaction.txid, outputs=len(transaction.outputs))
    )
    return Verdict(True, verdict.message, reason, holdings)


def _read(transaction: Transaction) -> Verdict:
    """The message of a transaction, not yet judged; or the verdict on what is none."""
    if not _has_mark(transaction):
        return NOT_A_MESSAGE
    try:
        return Verdict(True, slp.read(transaction.outputs[0].script), None, {})
    except NotAMessage as problem:
        if problem.problem is Problem.OTHER_PROTOCOL:
            return NOT_A_MESSAGE
        return Verdict(True, None, f"SLP OP_RETURN parsing error ({str(problem).removesuffix('.')}).", {})


def _has_mark(transaction: Transaction) -> bool:
    """Whether output 0 may bear the mark of the protocol: what has it not is not read at all."""
    script = transaction.outputs[0].script if transaction.outputs else b""
    return script[:1] == _RETURN and slp.LOKAD in script[:_LOKAD_WITHIN]


class Verdicts:
    """The verdicts on the transactions of a chain, each computed when first asked for and then remembered.

    `find` gives a transaction of the chain or its mempool by its id, or None.
    """

    def __init__(self, find: Callable[[bytes], Transaction | None]) -> None:
        self._find = find
        self._verdicts: dict[bytes, Verdict] = {}

    def on(self, transaction: Transaction) -> Verdict:
        """The verdict on a transaction; first on all of its ancestors that bear on it, without recursion."""
        if not _has_mark(transaction):
            return NOT_A_MESSAGE
        return self._on(transaction.txid_bytes, transaction)

    def by_id(self, txid_bytes: bytes) -> Verdict | None:
        """The verdict on the transaction with that id; None when there is no such transaction now."""
        transaction = self._find(txid_bytes)
        if transaction is None or not _has_mark(transaction):
            return None if transaction is None else NOT_A_MESSAGE
        return self._on(txid_bytes, transaction)

    def _on(self, txid_bytes: bytes, transaction: Transaction) -> Verdict:
        verdict = self._verdicts.get(txid_bytes)
        if verdict is not None:
            return verdict
        waiting = [transaction]
        while waiting:
            latest = waiting[-1]
            unknown = [] if latest.txid_bytes in self._verdicts else self._unknown_parents(latest)
            if unknown:
                waiting += unknown
                continue
            waiting.pop()
            self._remember(latest)
        return self._verdicts[txid_bytes]

    def holding(self, txid_bytes: bytes, n: int) -> Holding | None:
        """What an output holds, spent or not."""
        verdict = self._verdicts.get(txid_bytes) or self.by_id(txid_bytes)
        return None if verdict is None else verdict.holdings.get(n)

    def _remember(self, transaction: Transaction) -> None:
        txid_bytes = transaction.txid_bytes
        if txid_bytes not in self._verdicts:
            self._verdicts[txid_bytes] = judge(transaction, self._held(transaction.inputs))

    def _unknown_parents(self, transaction: Transaction) -> list[Transaction]:
        message = _read(transaction).message
        if message is None or isinstance(message, Genesis):
            return []
        missing = {each.txid_bytes for each in transaction.inputs if each.txid_bytes not in self._verdicts}
        parents = (self._find(txid_bytes) for txid_bytes in sorted(missing))
        return [each for each in parents if each is not None and _read(each).claims]

    def _held(self, inputs: Sequence[Input]) -> list[Holding]:
        sources = ((self._verdicts.get(each.txid_bytes), each.index) for each in inputs)
        holdings = (verdict.holdings.get(index) for verdict, index in sources if verdict is not None)
        return [holding for holding in holdings if holding is not None]
