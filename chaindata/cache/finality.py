"""Which blocks an answer depends on, and whether they are buried so deep that it never has to be fetched again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chaindata.cache.freshness import BURIED, Final, Freshness
from chaindata.headers.models import ChainHeader, ChainTip
from chaindata.wire import headers, proofs
from chaindata.wire.records import chain, tokens
from chaindata.wire.records.chain import BlockHeader, DecodedTransaction, Transaction
from chaindata.wire.tokens.payloads import Freeze, Unfreeze

_NULL_DATA = "6a"


@dataclass(frozen=True, slots=True)
class Ground:
    """What an answer depends on: the highest block that it names, and whether a later block can still change it.

    `blocks` are the hashes that it names, with their heights, to be compared with the chain that the desk follows.
    """

    height: int | None = None
    is_open: bool = True
    blocks: tuple[tuple[int, str], ...] = ()


OPEN = Ground()


def ground(operation: str, policy: Freshness, arguments: Mapping[str, object], record: Any) -> Ground:
    """What the answer depends on; `OPEN` if the answer does not say."""
    if policy.final is Final.AT_ONCE:
        # A transaction that is not valid may only be unknown to the service so far.
        return Ground(None, operation == "validate_slp_transaction" and not record.valid)
    match record:
        case Transaction():
            basis = _of_transaction(record)
        case BlockHeader() | chain.Block(is_main_chain=True):
            basis = Ground(record.height, False, ((record.height, record.hash),))
        case tokens.TokenTransaction(block=int(), blockhash=str(name), valid=bool()):
            basis = Ground(record.block, _tells_the_present(record), ((record.block or 0, name),))
        case DecodedTransaction(blockhash=str(name)):
            basis = _of_hash(name)
        case _:
            basis = _of_plain(operation, arguments, record)
    return basis


def _tells_the_present(record: tokens.TokenTransaction) -> bool:
    """Whether later blocks change the answer: a burn matures, and a freeze shows the current balance."""
    return record.mature is False or (record.type_int,) in (Freeze.key, Unfreeze.key)


def _of_plain(operation: str, arguments: Mapping[str, object], record: Any) -> Ground:
    basis = OPEN
    match operation:
        case "get_block_header":
            basis = _of_hash(str(arguments["hash"]))
        case "get_tx_out_proof":
            basis = _of_proof(record)
        case "get_seed_blocks":
            basis = Ground(_int_or_none(arguments["endBlock"]), False)
        case "get_token_transactions_of_block":
            basis = Ground(_int_or_none(arguments["index"]), False)
        case "check_cash_account":
            basis = Ground(record.block, False)
        case "get_raw_transaction" if isinstance(record, str):
            basis = Ground(None, False)  # its bytes hash to the id in the question
    return basis


def _int_or_none(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _of_transaction(record: Transaction) -> Ground:
    """Final once its own block and those of all its spenders are buried; until then an output can still be spent."""
    if record.blockheight is None or record.blockheight < 0 or record.blockhash is None:
        return OPEN
    heights = [record.blockheight]
    is_open = False
    for output in record.vout:
        if output.spent_height is not None and output.spent_height >= 0:
            heights.append(output.spent_height)
        elif not output.script_pub_key.hex.startswith(_NULL_DATA):
            is_open = True
    return Ground(max(heights), is_open, ((record.blockheight, record.blockhash),))


def _of_hash(name: str) -> Ground:
    header = ChainHeader.objects.filter(hash=name.lower(), is_active=True).first()
    return OPEN if header is None else Ground(header.height, False, ((header.height, header.hash),))


def _of_proof(record: Any) -> Ground:
    try:
        return _of_hash(proofs.read(bytes.fromhex(record)).header.hash)
    except (ValueError, TypeError, headers.NotAHeader):
        return OPEN


def is_final(basis: Ground, policy: Freshness) -> bool:
    """Whether the answer never has to be fetched again: it follows from the question, or its blocks are buried."""
    if basis.is_open or policy.final is Final.NEVER:
        return False
    if policy.final is Final.AT_ONCE or basis.height is None:
        return True
    row = ChainTip.objects.select_related("header").filter(pk=1).first()
    if row is None or row.header is None or row.header.height - basis.height + 1 < BURIED:
        return False
    return not _is_contradicted(basis)


def _is_contradicted(basis: Ground) -> bool:
    """Whether the chain that the desk follows has another block at one of the heights."""
    hash_by_height = dict(basis.blocks)
    active = ChainHeader.objects.filter(height__in=hash_by_height, is_active=True)
    return any(hash_by_height[row.height].lower() != row.hash for row in active)
