"""The simple-ledger tokens of the chain: which there are, what moved them, and who holds what.

Source: supplement 3. Waiting transactions count like those in blocks, as in the indexes of real services. Nothing is
computed before somebody asks; each answer is of the chain and mempool as they are at that moment.
"""

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple, Protocol

from chaindata.wire.hashing import NotHexadecimal, from_display_hex
from chaindata.wire.scripts import steps
from chaindata.wire.tokens.slp import Genesis
from chaindata.wire.tokens.slp_rules import Holding
from chaindata.wire.transactions import Transaction
from sandbox.chain.following import Following
from sandbox.chain.node.active_chain import ActiveChain
from sandbox.chain.node.blocks import Block
from sandbox.chain.simple_ledger.simple_ledger_validity import Verdict, Verdicts


class Move(NamedTuple):
    """A transaction that moved a token by the rules. No height while it waits in the mempool."""

    token_id: str
    txid_bytes: bytes
    height: int | None


class Judged(NamedTuple):
    """A transaction with what it says to the token layer, valid or not."""

    transaction: Transaction
    verdict: Verdict
    block: Block | None


class TokenCoin(NamedTuple):
    """An unspent output with what it holds."""

    txid_bytes: bytes
    n: int
    script: bytes
    value_sat: int
    holding: Holding


class Token(NamedTuple):
    """A token: its id, what its genesis said, and the block of that; None while it waits."""

    id: str
    genesis: Genesis
    block: Block | None
    moves: list[Move]


def newest_first(token: Token) -> tuple[bool, int, str]:
    """By the block of the genesis, from the last one back; those that wait come before all of them."""
    return (token.block is not None, -token.block.height if token.block is not None else 0, token.id)


class SimpleLedger:
    """The tokens of one chain."""

    def __init__(self, chain: ActiveChain) -> None:
        self._chain = chain
        self._moves: dict[str, list[Move]] = {}
        self._following: Following[list[Move]] = Following(chain, self._read_block, self._undo_block)
        self.verdicts = Verdicts(self._transaction)

    # Transactions ----------------------------------------------------------------------------------------------------

    def judged(self, txid_bytes: bytes) -> Judged | None:
        """A transaction of the chain or the mempool and the verdict on it; None when there is no such transaction."""
        occurrence = self._chain.find(txid_bytes)
        return (
            None
            if occurrence is None
            else Judged(occurrence.transaction, self.verdicts.on(occurrence.transaction), occurrence.block)
        )

    def history(self, script: bytes) -> Iterator[Judged]:
        """The transactions of a locking script that bear the mark of the protocol, valid or not, newest first."""
        history = self._chain.history(script)
        confirmed = (place.txid_bytes for place in reversed(history.confirmed))
        transactions = (self.judged(txid_bytes) for txid_bytes in chain(reversed(history.unconfirmed), confirmed))
        return (each for each in transactions if each is not None and each.verdict.claims)

    # Tokens ----------------------------------------------------------------------------------------------------------

    def tokens(self) -> list[Token]:
        """Every token, the newest first: those whose genesis waits before the others."""
        self._following.catch_up()
        waiting = self._waiting()
        ids = {**dict.fromkeys(self._moves), **dict.fromkeys(waiting)}
        tokens = [self._token(token_id, waiting.get(token_id, [])) for token_id in ids]
        existing = [each for each in tokens if each is not None]
        return sorted(existing, key=newest_first)

    def token(self, token_id: str) -> Token | None:
        """The token of an id as it is shown; None when no valid genesis has it."""
        self._following.catch_up()
        return self._token(token_id.lower(), self._waiting().get(token_id.lower(), []))

    def decimals(self, token_id: str) -> int | None:
        """Into how many decimal places a token is divided; None for an unknown one."""
        genesis = self.genesis(token_id)
        return None if genesis is None else genesis.decimals

    def genesis(self, token_id: str) -> Genesis | None:
        """What the genesis of a token said; None for an unknown one."""
        try:
            verdict = self.verdicts.by_id(from_display_hex(token_id))
        except NotHexadecimal:
            return None
        return verdict.message if verdict is not None and isinstance(verdict.message, Genesis) else None

    # Outputs ---------------------------------------------------------------------------------------------------------

    def coins_of_script(self, script: bytes) -> list[TokenCoin]:
        """The unspent outputs of a locking script that hold tokens or a baton, in the order of the chain."""
        token_coins = []
        for coin in self._chain.history(script).coins:
            holding = self.verdicts.holding(coin.txid_bytes, coin.n)
            if holding is not None:
                token_coins.append(TokenCoin(coin.txid_bytes, coin.n, script, coin.output.value_sat, holding))
        return token_coins

    def coins_of_token(self, token: Token) -> Iterator[TokenCoin]:
        """The unspent outputs that hold some of a token, or its baton."""
        for move in token.moves:
            verdict = self.verdicts.by_id(move.txid_bytes)
            for n, holding in verdict.holdings.items() if verdict is not None else ():
                output = self._chain.output(move.txid_bytes, n)
                if output is None or steps.is_unspendable(output.script):
                    continue
                if self._chain.spender(move.txid_bytes, n) is None:
                    yield TokenCoin(move.txid_bytes, n, output.script, output.value_sat, holding)

    def spent_by(self, transaction: Transaction) -> list[Holding]:
        """What the outputs that a transaction spends held, in the order of its inputs."""
        holdings = (self.verdicts.holding(each.txid_bytes, each.index) for each in transaction.inputs)
        return [each for each in holdings if each is not None]

    # Following the chain ---------------------------------------------------------------------------------------------

    def _token(self, token_id: str, waiting: list[Move]) -> Token | None:
        genesis = self.genesis(token_id)
        if genesis is None:
            return None
        judged = self.judged(from_display_hex(token_id))
        return Token(token_id, genesis, judged.block if judged else None, [*self._moves.get(token_id, []), *waiting])

    def _read_block(self, block: Block) -> list[Move]:
        pairs = zip(block.transactions, block.txids_bytes, strict=True)
        moves = [move for each, txid in pairs if (move := self._move(each, txid, block.height)) is not None]
        for move in moves:
            self._moves.setdefault(move.token_id, []).append(move)
        return moves

    def _undo_block(self, moves: list[Move]) -> None:
        for move in reversed(moves):
            remaining = self._moves[move.token_id]
            remaining.pop()
            if not remaining:
                del self._moves[move.token_id]

    def _waiting(self) -> dict[str, list[Move]]:
        moves: dict[str, list[Move]] = {}
        for entry in self._chain.mempool:
            move = self._move(entry.transaction, entry.txid_bytes, None)
            if move is not None:
                moves.setdefault(move.token_id, []).append(move)
        return moves

    def _move(self, transaction: Transaction, txid_bytes: bytes, height: int | None) -> Move | None:
        verdict = self.verdicts.on(transaction)
        if not verdict.is_valid:
            return None
        token_id = verdict.token_id or transaction.txid
        return Move(token_id, txid_bytes, height)

    def _transaction(self, txid_bytes: bytes) -> Transaction | None:
        occurrence = self._chain.find(txid_bytes)
        return None if occurrence is None else occurrence.transaction


class TokenChain(ActiveChain, Protocol):
    """A chain that keeps the ledger of its simple-ledger tokens."""

    simple_ledger: SimpleLedger
