"""Tokens that are made, minted and sent with a private key in the path (chain data, Simple-ledger tokens).

Served only under the setting `non_js_framework`. The key is read, used to sign, and forgotten: what is broadcast and
journaled is the signed transaction, and no refusal repeats it.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

from chaindata.wire import keys, refusals
from chaindata.wire.hashing import NotHexadecimal, from_hex
from chaindata.wire.keys import NotAKey
from chaindata.wire.refusals import Refusal
from chaindata.wire.scripts import steps
from chaindata.wire.tokens import slp_rules
from chaindata.wire.tokens.slp import Genesis, Mint
from chaindata.wire.tokens.slp_rules import NotAQuantity
from chaindata.wire.transactions import Transaction
from sandbox.chain.full_node import FullNode
from sandbox.chain.handlers import naming
from sandbox.chain.handlers.arguments import Arguments, text
from sandbox.chain.node.terms import Refused
from sandbox.chain.simple_ledger import simple_ledger_spending
from sandbox.chain.simple_ledger.simple_ledger_spending import BATON_VOUT, CannotSpend, Signer
from wire.values import Secret

HASH_BYTES = 32
CANNOT_SPEND = Refusal(400, "{reason}")
NOT_ITS_KEY = Refusal(400, "The private key is not that of the funding address.")
TOKEN_UNKNOWN = Refusal(400, "tokenId not found")


class Order(NamedTuple):
    """What all three operations are given: who signs, and the locking scripts of who gets tokens and coins."""

    signer: Signer
    to: bytes
    change: bytes


def create_slp_token(node: FullNode, arguments: Arguments) -> object:
    """A new token; the id of its genesis."""
    order = _order(node, arguments)
    baton_to = _script(arguments, "batonReceiverAddress")
    decimals = int(text(arguments, "decimals"))
    genesis = Genesis(
        ticker=text(arguments, "symbol").encode(),
        name=text(arguments, "name").encode(),
        document_uri=text(arguments, "documentUri").encode(),
        document_hash=_document_hash(text(arguments, "documentHash")),
        decimals=decimals,
        baton_vout=BATON_VOUT,
        quantity=_quantity(arguments, "initialTokenQty", decimals),
    )
    return _sent(
        node,
        lambda: simple_ledger_spending.create(
            node.chain, order.signer, genesis, to=order.to, baton_to=baton_to, change=order.change
        ),
    )


def mint_slp_token(node: FullNode, arguments: Arguments) -> object:
    """More of a token whose baton the funding address holds; the baton goes on to its receiver."""
    order = _order(node, arguments)
    baton_to = _script(arguments, "batonReceiverAddress")
    token_id, decimals = _token(node, arguments)
    message = Mint(token_id, BATON_VOUT, _quantity(arguments, "additionalTokenQty", decimals))
    return _sent(
        node,
        lambda: simple_ledger_spending.mint(
            node.chain, order.signer, message, to=order.to, baton_to=baton_to, change=order.change
        ),
    )


def send_slp_token(node: FullNode, arguments: Arguments) -> object:
    """Tokens of the funding address to the receiver; what is left of them stays there."""
    order = _order(node, arguments)
    token_id, decimals = _token(node, arguments)
    quantity = _quantity(arguments, "amount", decimals)
    return _sent(
        node,
        lambda: simple_ledger_spending.send(
            node.chain, order.signer, token_id, quantity, to=order.to, change=order.change
        ),
    )


def _order(node: FullNode, arguments: Arguments) -> Order:
    """Raises `Refused`: where the setting is off, before anything is read."""
    if not node.config.non_js_framework:
        raise Refused(refusals.ROUTE_UNKNOWN)
    funding = _script(arguments, "fundingAddress")
    try:
        signer = Signer(keys.read(Secret(text(arguments, "fundingWif")), node.chain.NETWORK))
    except NotAKey as problem:
        raise Refused(CANNOT_SPEND, reason=problem) from None
    if funding != signer.script:
        raise Refused(NOT_ITS_KEY)
    to = _script(arguments, "tokenReceiverAddress")
    return Order(signer, to, _script(arguments, "bchChangeReceiverAddress"))


def _script(arguments: Arguments, name: str) -> bytes:
    """The locking script of an address. A bad one is told by its name: somebody may have put the key in its place."""
    try:
        return steps.locking(naming.read(text(arguments, name)))
    except Refused as problem:
        raise Refused(problem.refusal, value=name, name=name) from None


def _token(node: FullNode, arguments: Arguments) -> tuple[str, int]:
    token_id = text(arguments, "tokenId").lower()
    decimals = node.chain.simple_ledger.decimals(token_id)
    if decimals is None:
        raise Refused(TOKEN_UNKNOWN)
    return token_id, decimals


def _document_hash(written: str) -> bytes:
    try:
        raw = from_hex(written, most_bytes=HASH_BYTES)
    except NotHexadecimal:
        raw = b""
    if len(raw) != HASH_BYTES:
        raise Refused(CANNOT_SPEND, reason="documentHash has to have 64 hexadecimal digits")
    return raw


def _quantity(arguments: Arguments, name: str, decimals: int) -> int:
    try:
        return slp_rules.in_base_units(Decimal(text(arguments, name)), decimals)
    except NotAQuantity as problem:
        raise Refused(CANNOT_SPEND, reason=f"{name}: {problem}") from None


def _sent(node: FullNode, make: Callable[[], Transaction]) -> str:
    try:
        transaction = make()
    except CannotSpend as problem:
        raise Refused(CANNOT_SPEND, reason=problem) from None
    return node.broadcast(transaction.raw)


HANDLERS = {function.__name__: function for function in (create_slp_token, mint_slp_token, send_slp_token)}
