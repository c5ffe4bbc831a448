"""One token of the simple ledger: its figures, its genesis read from its own bytes, its holders, baton and supply."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from chaindata.cache import answers
from chaindata.cache.answers import Reading
from chaindata.headers import tips
from chaindata.shared import addresses
from chaindata.shared.outputs import script_of
from chaindata.shared.pages import TIP_TOPIC, PartFreshness, freshness_of
from chaindata.tokens import supply, tokens
from chaindata.tokens.tokens import HoldersPart
from chaindata.wire import hashing, transactions
from chaindata.wire.records import chain
from chaindata.wire.records import slp as slp_records
from chaindata.wire.scripts import steps
from chaindata.wire.tokens import slp, slp_rules


@dataclass(frozen=True, slots=True)
class Genesis:
    """The first transaction of a token, read from its own bytes. `differs` names what the service says differently.

    `problem` is why it is no such transaction.
    """

    message: slp.Genesis | None
    txid: str
    name: str
    symbol: str
    document_uri: str
    document_hash: str
    differs: tuple[str, ...]
    problem: str
    freshness: PartFreshness


@dataclass(frozen=True, slots=True)
class SimpleToken:
    """A token of the simple ledger; `stats` are None until they were read, or if there is no such token."""

    token_id: str
    stats: slp_records.Token | None
    is_unknown: bool
    freshness: PartFreshness


def token(*, token_id: str, now: datetime) -> SimpleToken:
    """The figures of one token."""
    reading = answers.read("get_slp_token_stats", now=now, tokenId=token_id)
    stats: slp_records.Token | None = reading.record
    unknown = reading.freshness == "missing" or (stats is not None and not stats.is_known)
    return SimpleToken(token_id, None if unknown else stats, unknown, freshness_of(reading, topics=[TIP_TOPIC]))


def genesis(*, token_id: str, now: datetime) -> Genesis:
    """The token's genesis, from bytes that hash to its id, compared with what the service says of it."""
    reading = answers.read("get_raw_transaction", now=now, txid=token_id, verbose=False)
    stats = answers.read("get_slp_token_stats", now=now, tokenId=token_id).record
    message, problem = _genesis(token_id, reading.record) if isinstance(reading.record, str) else (None, "")
    read = _texts(message) if message else {}
    differs = _differs(message, stats, read) if message and stats and stats.is_known else ()
    freshness = freshness_of(reading, topics=[TIP_TOPIC])
    return Genesis(
        message=message,
        txid=token_id,
        name=read.get("name", ""),
        symbol=read.get("symbol", ""),
        document_uri=read.get("document", ""),
        document_hash=read.get("document hash", ""),
        differs=differs,
        problem=problem,
        freshness=freshness,
    )


def _texts(message: slp.Genesis) -> dict[str, str]:
    """The texts with a mark in place of each NUL, as the client returns those of the service."""
    texts = {"name": message.name, "symbol": message.ticker, "document": message.document_uri}
    read = {what: slp.text_of(raw).replace("\0", "\ufffd") for what, raw in texts.items()}
    return read | {"document hash": message.document_hash.hex()}


def _genesis(token_id: str, text: str) -> tuple[slp.Genesis | None, str]:
    try:
        transaction = transactions.read(hashing.from_hex(text, most_bytes=transactions.MOST_BYTES))
        if transaction.txid != token_id:
            return None, "The chain-data service returned a different transaction from the one requested."
        message = slp.read(transaction.outputs[0].script)
    except (hashing.NotHexadecimal, transactions.NotATransaction, IndexError):
        return None, "The chain-data service's response is not a transaction."
    except slp.NotAMessage as problem:
        return None, str(problem)
    if not isinstance(message, slp.Genesis):
        return None, "The transaction with this ID is not a token genesis."
    return message, ""


def _differs(message: slp.Genesis, stats: slp_records.Token, read: dict[str, str]) -> tuple[str, ...]:
    service_texts = {
        "name": stats.name,
        "symbol": stats.symbol,
        "document": stats.document_uri,
        "document hash": stats.document_hash or "",
    }
    pairs = {what: (service_texts[what], text) for what, text in read.items()} | {
        "decimals": (stats.decimals, message.decimals),
        "initial supply": (stats.initial_token_qty, slp_rules.in_tokens(message.quantity, message.decimals)),
        "baton": (stats.contains_baton, message.baton_vout is not None),
    }
    return tuple(what for what, (theirs, ours) in pairs.items() if theirs is not None and theirs != ours)


def holders(*, token_id: str, page: int, now: datetime) -> HoldersPart:
    """The holders of the token, and whether their balances add up to the circulating supply."""
    reading = answers.read("get_slp_balances_of_token", now=now, tokenId=token_id)
    stats = answers.read("get_slp_token_stats", now=now, tokenId=token_id).record
    circulates = stats.circulating_supply if stats is not None and stats.is_known else None
    balances = [(tokens.printed(row.slp_address), row.token_balance) for row in reading.record or []]
    freshness = freshness_of(reading, topics=[TIP_TOPIC])
    return tokens.holders(
        balances, supply=circulates, page=page, is_known=reading.record is not None, freshness=freshness
    )


# The baton ------------------------------------------------------------------------------------------------------------


HELD, ENDED, BURNED, NEVER = "held", "ended", "burned", "never"
MOST_MINTINGS = 20  # that are followed at most


@dataclass(frozen=True, slots=True)
class BatonPart:
    """Where the right to mint is, followed from each minting to the spender of its baton. `mintings` are their ids.

    `ending` is "held", "ended" if a minting gave it up, "burned" if another transaction spent it, "never" if there was
    none, "further" if it was passed on more often than is followed here, and "" while that is being read.
    """

    ending: str
    address: str
    txid: str
    vout: int
    mintings: tuple[str, ...]
    freshness: PartFreshness


@dataclass(frozen=True, slots=True)
class _Minting:
    """A transaction that made tokens: the genesis, or one that spent the baton."""

    txid: str
    transaction: chain.Transaction
    message: slp.Genesis | slp.Mint


@dataclass(frozen=True, slots=True)
class _Walk:
    """The path of the baton from the genesis, as far as it was read; see `BatonPart`."""

    ending: str
    address: str
    txid: str
    vout: int
    mintings: Sequence[_Minting]
    readings: Sequence[Reading]


def baton(*, token_id: str, now: datetime) -> BatonPart:
    """The output that holds the baton now, and the mintings on the way to it."""
    way = _walk(token_id, now)
    mintings = tuple(each.txid for each in way.mintings if each.txid != token_id)
    freshness = freshness_of(*way.readings, topics=[TIP_TOPIC])
    return BatonPart(way.ending, way.address, way.txid, way.vout, mintings, freshness)


def _walk(token_id: str, now: datetime) -> _Walk:
    txid, mintings, readings = token_id, list[_Minting](), list[Reading]()
    ending, address, vout = "further", "", 0
    for _ in range(MOST_MINTINGS):
        readings.append(answers.read("get_transaction_details", now=now, txid=txid))
        transaction: chain.Transaction | None = readings[-1].record
        if transaction is None:
            ending = ""
            break
        message = _message(transaction)
        if not _passes_on(message, token_id, is_first=txid == token_id):
            ending = NEVER if txid == token_id else BURNED
            break
        if isinstance(message, slp.Genesis | slp.Mint):
            mintings.append(_Minting(txid, transaction, message))
        new_vout = message.baton_vout if isinstance(message, slp.Genesis | slp.Mint) else None
        if new_vout is None or new_vout >= len(transaction.vout):
            ending = NEVER if txid == token_id else ENDED
            break
        if not (spender := transaction.vout[new_vout].spent_tx_id):
            ending, vout, address = HELD, new_vout, _owner(transaction.vout[new_vout])
            break
        txid = spender
    return _Walk(ending, address, txid, vout, mintings, readings)


def _message(transaction: chain.Transaction) -> slp.Message | None:
    try:
        return slp.read(script_of(transaction.vout[0])) if transaction.vout else None
    except slp.NotAMessage:
        return None


def _passes_on(message: slp.Message | None, token_id: str, *, is_first: bool) -> bool:
    """Whether this transaction, which spends the baton or is the first, may pass a baton on."""
    if is_first:
        return isinstance(message, slp.Genesis)
    return isinstance(message, slp.Mint) and message.token_id == token_id


def _owner(output: chain.Output) -> str:
    receivers = steps.addresses_of(script_of(output), addresses.printing_network())
    return receivers[0].cash_address if len(receivers) == 1 else ""


# Supply over time -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MintLine:
    """What one transaction minted, in tokens. `block` is None while it waits; `minted` is the total up to it."""

    txid: str
    amount: Decimal
    block: int | None
    minted: Decimal


@dataclass(frozen=True, slots=True)
class SupplyPart:
    """The mintings of the token, the newest first, from the transactions' own bytes.

    `is_whole`: the baton was followed to its end, so that no minting is missing; only then `adds_up` compares what was
    minted with the service's count. `burned` is what the service says was lost. It does not say where, so the drawing
    shows what was minted and never falls.
    """

    lines: Sequence[MintLine]
    minted: Decimal
    is_whole: bool
    adds_up: bool | None
    burned: Decimal | None
    circulating: Decimal | None
    drawing: supply.Drawing | None
    freshness: PartFreshness


def supply_history(*, token_id: str, now: datetime) -> SupplyPart:
    """Every minting with its block, and the drawing of all that was minted."""
    way = _walk(token_id, now)
    reading = answers.read("get_slp_token_stats", now=now, tokenId=token_id)
    stats: slp_records.Token | None = reading.record if reading.record and reading.record.is_known else None
    lines = _mint_lines(way.mintings)
    changes = [supply.Change(each.txid, each.amount, each.block, n) for n, each in enumerate(lines)]
    is_whole = way.ending not in ("", "further")
    tip = tips.tip(now)
    return SupplyPart(
        lines=lines[::-1],
        minted=lines[-1].minted if lines else Decimal(0),
        is_whole=is_whole,
        adds_up=_adds_up(lines, stats) if is_whole else None,
        burned=stats.total_burned if stats else None,
        circulating=stats.circulating_supply if stats else None,
        drawing=supply.drawing(
            supply.steps([each for each in changes if each.block is not None]) if is_whole else [],
            tip=tip.height if tip else None,
        ),
        freshness=freshness_of(*way.readings, reading, topics=[TIP_TOPIC]),
    )


def _mint_lines(mintings: Sequence[_Minting]) -> list[MintLine]:
    """The lines in the order of the baton, which is that of the chain."""
    lines, so_far = list[MintLine](), Decimal(0)
    first = mintings[0].message if mintings else None
    decimals = first.decimals if isinstance(first, slp.Genesis) else 0
    for each in mintings:
        amount = slp_rules.in_tokens(each.message.quantity, decimals)
        so_far += amount
        lines.append(
            MintLine(each.txid, amount, each.transaction.blockheight if each.transaction.blockhash else None, so_far)
        )
    return lines


def _adds_up(lines: Sequence[MintLine], stats: slp_records.Token | None) -> bool | None:
    """Whether the service counts the same, with or without what waits for a block."""
    if stats is None or stats.total_minted is None or not lines:
        return None
    in_blocks = sum((each.amount for each in lines if each.block is not None), Decimal(0))
    return stats.total_minted in (in_blocks, lines[-1].minted)
