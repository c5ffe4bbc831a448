"""Simple-ledger tokens and transactions as the service tells them (chain data, Simple-ledger token; supplement 3)."""

from datetime import UTC, datetime
from decimal import Context, Decimal

from chaindata.wire.tokens import slp, slp_rules
from chaindata.wire.tokens.slp import Genesis, Mint, Send
from sandbox.chain.handlers import naming
from sandbox.chain.simple_ledger import simple_ledger_figures
from sandbox.chain.simple_ledger.simple_ledger import Judged, Token
from sandbox.chain.state import Chain
from wire import values

SCHEMA_VERSION = 70  # of a history's entries, as in the documented sample
_EXACT = Context(prec=values.MOST_DIGITS)
_UNNAMED = Genesis(b"", b"", b"", b"", 0, None, 0)  # of a token whose genesis nobody knows


def amount(quantity: int, decimals: int) -> Decimal:
    """Base units in tokens, without zeros at the end."""
    return shortest(slp_rules.in_tokens(quantity, decimals))


def shortest(number: Decimal) -> Decimal:
    """The same number without zeros behind the point, and without an exponent."""
    short = number.normalize(_EXACT)
    return short.quantize(Decimal(1), context=_EXACT) if short == short.to_integral_value() else short


def token(chain: Chain, token: Token) -> dict[str, object]:
    """A token with its statistics."""
    figures, genesis = simple_ledger_figures.token_figures(chain, token), token.genesis
    time_s = token.block.header.time if token.block is not None else None
    return {
        "decimals": genesis.decimals,
        "timestamp": None if time_s is None else f"{datetime.fromtimestamp(time_s, UTC):%Y-%m-%d %H:%M:%S}",
        "timestampUnix": time_s,
        "versionType": slp.TOKEN_TYPE,
        "documentUri": slp.text_of(genesis.document_uri),
        "symbol": slp.text_of(genesis.ticker),
        "name": slp.text_of(genesis.name),
        "containsBaton": genesis.baton_vout is not None,
        "id": token.id,
        "documentHash": genesis.document_hash.hex() or None,
        "initialTokenQty": amount(genesis.quantity, genesis.decimals),
        "blockCreated": None if token.block is None else token.block.height,
        "blockLastActiveSend": figures.last_send,
        "blockLastActiveMint": figures.last_mint,
        "txnsSinceGenesis": figures.transactions,
        "validAddresses": figures.holders,
        "totalMinted": amount(figures.minted, genesis.decimals),
        "totalBurned": amount(figures.burned, genesis.decimals),
        "circulatingSupply": amount(figures.circulating, genesis.decimals),
        "mintingBatonStatus": figures.baton,
    }


def token_id_of(judged: Judged) -> str | None:
    """The token that a transaction makes, mints or sends; None when it says nothing that could be read."""
    return judged.transaction.txid if isinstance(judged.verdict.message, Genesis) else judged.verdict.token_id


def listed(chain: Chain, judged: Judged) -> dict[str, object]:
    """A transaction as an entry of a token's history. It must name a token."""
    return {
        "txid": judged.transaction.txid,
        "tokenDetails": {
            "valid": judged.verdict.is_valid,
            "detail": _detail(chain, judged),
            "invalidReason": judged.verdict.reason,
            "schema_version": SCHEMA_VERSION,
        },
    }


def _detail(chain: Chain, judged: Judged) -> dict[str, object]:
    message, token_id = judged.verdict.message, token_id_of(judged) or ""
    genesis = chain.simple_ledger.genesis(token_id) or _UNNAMED
    baton_vout = message.baton_vout if isinstance(message, Genesis | Mint) else None
    return {
        "decimals": genesis.decimals,
        "tokenIdHex": token_id,
        "transactionType": transaction_type(judged),
        "versionType": slp.TOKEN_TYPE,
        "documentUri": slp.text_of(genesis.document_uri),
        "documentSha256Hex": genesis.document_hash.hex() or None,
        "symbol": slp.text_of(genesis.ticker),
        "name": slp.text_of(genesis.name),
        "txnBatonVout": baton_vout,
        "txnContainsBaton": baton_vout is not None,
        "outputs": [
            {"address": _payee(judged, n), "amount": values.decimal_text(amount(quantity, genesis.decimals))}
            for n, quantity in enumerate(_quantities(judged), start=1)
        ],
    }


def _quantities(judged: Judged) -> tuple[int, ...]:
    match judged.verdict.message:
        case Genesis(quantity=quantity) | Mint(quantity=quantity):
            return (quantity,)
        case Send(quantities=quantities):
            return quantities
    return ()


def _payee(judged: Judged, n: int) -> str | None:
    outputs = judged.transaction.outputs
    address = naming.of_script(outputs[n].script) if n < len(outputs) else None
    return None if address is None else address.slp_address


def transaction_type(judged: Judged) -> str:
    """The word of the message."""
    return type(judged.verdict.message).__name__.upper()


def message(chain: Chain, judged: Judged) -> dict[str, object] | None:
    """What a transaction says, as its details tell it; None for what can't be read or names no token.

    A SEND lists base units by output, output 0 first; of a GENESIS or MINT the token and its new units are told.
    """
    message, token_id = judged.verdict.message, token_id_of(judged)
    if token_id is None:
        return None
    head = {"versionType": slp.TOKEN_TYPE, "transactionType": transaction_type(judged), "tokenIdHex": token_id}
    if not isinstance(message, Genesis | Mint):
        return head | {"sendOutputs": ["0", *map(str, _quantities(judged))]}
    genesis = chain.simple_ledger.genesis(token_id) or _UNNAMED
    return head | {
        "symbol": slp.text_of(genesis.ticker),
        "name": slp.text_of(genesis.name),
        "documentUri": slp.text_of(genesis.document_uri),
        "documentSha256": genesis.document_hash.hex() or None,
        "decimals": genesis.decimals,
        "genesisOrMintQuantity": str(message.quantity),
        "batonVout": message.baton_vout,
        "containsBaton": message.baton_vout is not None,
    }
