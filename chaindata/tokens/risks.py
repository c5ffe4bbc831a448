"""Tokens of the simple ledger that a raw transaction would burn: spent without a message, they are gone.

What an output holds is read from the message of the transaction that made it. Whether that message was valid is not
checked: a needless warning costs a moment, a missing one costs the tokens.
"""

from collections.abc import Mapping

from chaindata.wire.tokens import slp, slp_rules
from chaindata.wire.tokens.slp_rules import Holding
from chaindata.wire.transactions import Transaction

_MOST_LISTED = 5


def losses(*, transaction: Transaction, origins: Mapping[str, Transaction]) -> list[str]:
    """A sentence for each token of which less comes out than goes in. `origins` are the transactions spent, by id."""
    units_by_token, batons = _holdings(transaction, origins)
    message = _message(transaction)
    sentences = []
    for token_id, units in units_by_token.items():
        out = _units_moved_on(message, token_id, outputs=len(transaction.outputs))
        if out < units:
            what = "all" if not out else f"{units - out:,}"
            sentences.append(
                f"This transaction burns {what} of the {units:,} base units of token {token_id[:8]}… that it spends."
            )
    for token_id in batons:
        if not (isinstance(message, slp.Mint) and message.token_id == token_id):
            sentences.append(f"This transaction burns the minting baton of token {token_id[:8]}….")
    return sentences[:_MOST_LISTED]


def _holdings(transaction: Transaction, origins: Mapping[str, Transaction]) -> tuple[dict[str, int], list[str]]:
    """Base units spent by token, and the tokens whose baton is spent."""
    units: dict[str, int] = {}
    batons: list[str] = []
    for each in transaction.inputs:
        holding = _holding(origins.get(each.txid), each.index)
        if holding is None:
            continue
        if holding.is_baton:
            batons.append(holding.token_id)
        else:
            units[holding.token_id] = units.get(holding.token_id, 0) + holding.quantity
    return units, batons


def _holding(origin: Transaction | None, n: int) -> Holding | None:
    message = _message(origin) if origin is not None else None
    if origin is None or message is None:
        return None
    return slp_rules.holdings(message, txid=origin.txid, outputs=len(origin.outputs)).get(n)


def _message(transaction: Transaction) -> slp.Message | None:
    try:
        return slp.read(transaction.outputs[0].script) if transaction.outputs else None
    except slp.NotAMessage:
        return None


def _units_moved_on(message: slp.Message | None, token_id: str, *, outputs: int) -> int:
    """Base units of the token that go to outputs that exist."""
    if not isinstance(message, slp.Send) or message.token_id != token_id:
        return 0
    return sum(each.quantity for each in slp_rules.holdings(message, txid="", outputs=outputs).values())
