"""The figures of simple-ledger tokens: supply, holders, the state of the baton, and what a transaction burnt.

Source: supplement 3, Answers. Quantities are base units unless a name says tokens.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

from chaindata.wire.hashing import from_display_hex
from chaindata.wire.scripts import steps
from chaindata.wire.tokens import slp_rules
from chaindata.wire.tokens.slp import Genesis, Mint, Send
from chaindata.wire.tokens.slp_rules import Holding
from sandbox.chain.node.terms import Outpoint
from sandbox.chain.simple_ledger.simple_ledger import Move, SimpleLedger, Token, TokenChain, TokenCoin

ALIVE, NEVER_CREATED, BURNED, ENDED = "ALIVE", "NEVER_CREATED", "DEAD_BURNED", "DEAD_ENDED"


class Figures(NamedTuple):
    """The statistics of a token. Heights are of the last transaction of a kind in a block, None when there is none."""

    minted: int
    circulating: int
    transactions: int
    holders: int
    last_send: int | None
    last_mint: int | None
    baton: str

    @property
    def burned(self) -> int:
        """What was made and is held no more."""
        return self.minted - self.circulating


class Burn(NamedTuple):
    """What went into a transaction, came out of it and was lost in it, in tokens."""

    inputs: Decimal
    outputs: Decimal
    burned: Decimal


def token_figures(chain: TokenChain, token: Token) -> Figures:
    """The statistics of a token; its genesis is counted as a transaction, not as a mint."""
    ledger = chain.simple_ledger
    messages = [(move, verdict.message) for move in token.moves if (verdict := ledger.verdicts.by_id(move.txid_bytes))]
    mints = [(move, message) for move, message in messages if isinstance(message, Mint)]
    held = held_by_script(ledger.coins_of_token(token))
    return Figures(
        minted=token.genesis.quantity + sum(message.quantity for _, message in mints),
        circulating=sum(held.values()),
        transactions=len(messages),
        holders=sum(bool(steps.addresses_of(script, chain.NETWORK)) for script in held),
        last_send=_last(move for move, message in messages if isinstance(message, Send)),
        last_mint=_last(move for move, _ in mints),
        baton=baton_status(chain, token),
    )


def held_by_script(coins: Iterable[TokenCoin]) -> dict[bytes, int]:
    """What each locking script holds of one token; batons count nothing."""
    held: dict[bytes, int] = {}
    for each in coins:
        if each.holding.quantity:
            held[each.script] = held.get(each.script, 0) + each.holding.quantity
    return held


def held_by_token(coins: Iterable[TokenCoin]) -> dict[str, int]:
    """What one locking script holds of each token; batons count nothing."""
    held: dict[str, int] = {}
    for each in coins:
        if each.holding.quantity:
            held[each.holding.token_id] = held.get(each.holding.token_id, 0) + each.holding.quantity
    return held


def baton_status(chain: TokenChain, token: Token) -> str:
    """Where the minting baton is: followed from mint to mint.

    A baton that was given to an output that does not exist ends the minting, as one that was not passed on does.
    """
    if token.genesis.baton_vout is None:
        return NEVER_CREATED
    verdicts = chain.simple_ledger.verdicts
    place = _baton_of(chain.simple_ledger, from_display_hex(token.id))
    while place is not None:
        spend = chain.spender(*place)
        if spend is None:
            return ALIVE
        verdict = verdicts.by_id(spend.txid_bytes)
        if verdict is None or not isinstance(verdict.message, Mint) or verdict.token_id != token.id:
            return BURNED
        place = _baton_of(chain.simple_ledger, spend.txid_bytes)
    return ENDED


def burn_of(ledger: SimpleLedger, txid_bytes: bytes, *, is_observed: bool = False) -> Burn:
    """What a transaction lost of all tokens that it spent, in tokens of each; zeros for one that is unknown.

    A GENESIS and a MINT make what comes out of them: they burn just the tokens that they spend. Observed servers take
    what a GENESIS makes off nevertheless, so that it comes to less than nothing (supplement 10).
    """
    judged = ledger.judged(txid_bytes)
    if judged is None:
        return Burn(Decimal(0), Decimal(0), Decimal(0))
    spent = _in_tokens(ledger, ledger.spent_by(judged.transaction))
    outputs = _in_tokens(ledger, judged.verdict.holdings.values())
    counted = (Send, Genesis) if is_observed else Send
    passed_on = outputs if isinstance(judged.verdict.message, counted) else Decimal(0)
    return Burn(spent, outputs, spent - passed_on)


def _in_tokens(ledger: SimpleLedger, holdings: Iterable[Holding]) -> Decimal:
    amounts = (slp_rules.in_tokens(each.quantity, ledger.decimals(each.token_id) or 0) for each in holdings)
    return sum(amounts, Decimal(0))


def _baton_of(ledger: SimpleLedger, txid_bytes: bytes) -> Outpoint | None:
    verdict = ledger.verdicts.by_id(txid_bytes)
    holdings = verdict.holdings if verdict is not None else {}
    return next(((txid_bytes, n) for n, holding in holdings.items() if holding.is_baton), None)


def _last(moves: Iterable[Move]) -> int | None:
    heights = [move.height for move in moves if move.height is not None]
    return max(heights, default=None)
