"""Bulk answers split into their elements: each under the id in the question, as an answer of the single form.

Services drop repeated ids, leave out unknown ones and choose their own order (supplement 8), so an element's content
identifies it, never its place. Only if nothing in it says whose it is does the place count, and then only in an answer
with as many elements as the question.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from chaindata.wire import addresses, catalogue, headers, proofs, transactions
from chaindata.wire.addresses import NotAnAddress
from chaindata.wire.headers import NotAHeader
from chaindata.wire.proofs import NotAProof
from chaindata.wire.records.slp import Token
from chaindata.wire.transactions import NotATransaction
from wire import records
from wire.errors import BadReply

_elements = msgspec.json.Decoder(list[msgspec.Raw])
Ids = Callable[[Any], Iterator[str]]


def _nobody(record: Any) -> Iterator[str]:
    yield from ()


@dataclass(frozen=True, slots=True)
class Bulk:
    """A bulk operation: its array, the single operation for one element and its parameter, and how ids are read.

    `ids_of` gives the ids in a record of the single form, `normal` the form in which two spellings of an id are equal.
    Without `ids_of` elements are identified by their place.
    """

    array: str
    single: str
    param: str
    ids_of: Ids | None
    normal: Callable[[str], str] = str.lower


def _hash_of_header(record: Any) -> Iterator[str]:
    yield headers.read(bytes.fromhex(record)).hash if isinstance(record, str) else record.hash


def _ids_of_proof(record: str) -> Iterator[str]:
    yield from (each.txid for each in proofs.proven(proofs.read(bytes.fromhex(record))))


def _txid_of_raw(record: Any) -> Iterator[str]:
    yield transactions.read(bytes.fromhex(record)).txid if isinstance(record, str) else record.txid


def _forms(record: Any) -> Iterator[str]:
    texts = (record.cash_address, record.legacy_address)
    yield from (normal_address(text) for text in texts if text)


def normal_address(text: str) -> str:
    """One spelling for all forms of an address: kind and hash, whatever the network. Other texts stay as they are."""
    try:
        address = addresses.read(text)
    except NotAnAddress:
        return text
    return f"{address.kind}:{address.hash.hex()}"


def txid_of_hex(text: str) -> str:
    """The id of a raw transaction; any other text stays as it is."""
    try:
        return transactions.read(bytes.fromhex(text)).txid
    except ValueError:
        return text.lower()


def _ids_of_validation(record: Any) -> Iterator[str]:
    if record.address:
        yield normal_address(record.address)


BULKS: dict[str, Bulk] = {
    "get_block_headers": Bulk("hashes", "get_block_header", "hash", _hash_of_header),
    "get_mempool_entries": Bulk("txids", "get_mempool_entry", "txid", None),
    "get_tx_out_proofs": Bulk("txids", "get_tx_out_proof", "txid", _ids_of_proof),
    "get_slp_tokens_by_id": Bulk("tokenIds", "get_slp_token", "tokenId", lambda record: iter((record.id,))),
    "convert_addresses": Bulk("addresses", "convert_address", "address", _forms, normal_address),
    "validate_slp_transactions": Bulk("txids", "validate_slp_transaction", "txid", lambda record: iter((record.txid,))),
    "decode_transactions": Bulk("hexes", "decode_transaction", "hex", lambda record: iter((record.txid,)), txid_of_hex),
    "decode_scripts": Bulk("hexes", "decode_script", "hex", None),
    "get_details_of_addresses": Bulk("addresses", "get_address_details", "address", _forms, normal_address),
    "get_utxos_of_addresses": Bulk("addresses", "get_address_utxos", "address", _forms, normal_address),
    "get_unconfirmed_of_addresses": Bulk("addresses", "get_address_unconfirmed", "address", _forms, normal_address),
    "get_transactions_of_addresses": Bulk("addresses", "get_address_transactions", "address", _forms, normal_address),
    "get_blocks_by_hash": Bulk("hashes", "get_block_by_hash", "hash", lambda record: iter((record.hash,))),
    "get_blocks_by_height": Bulk(
        "heights", "get_block_by_height", "height", lambda record: iter((str(record.height),))
    ),
    "validate_addresses": Bulk("addresses", "validate_address", "address", _ids_of_validation, normal_address),
    "get_details_of_transactions": Bulk(
        "txids", "get_transaction_details", "txid", lambda record: iter((record.txid,))
    ),
    "get_raw_transactions": Bulk("txids", "get_raw_transaction", "txid", _txid_of_raw),
    "get_slp_stats_of_tokens": Bulk("tokenIds", "get_slp_token_stats", "tokenId", lambda record: iter((record.id,))),
    "get_slp_burn_totals": Bulk(
        "txids", "get_slp_burn_total", "transactionId", lambda record: iter((record.transaction_id,))
    ),
}
"""The bulk reads whose elements are answers of the single form."""


_OF_SINGLE = {bulk.single: bulk for bulk in BULKS.values()}


def check_identity(operation: str, arguments: Mapping[str, object], record: Any) -> None:
    """Raises `BadReply` if the answer of a single form says that it is about something else than the question."""
    bulk = _OF_SINGLE.get(operation)
    if bulk is None or bulk.ids_of is None or (isinstance(record, Token) and not record.is_known):
        return
    try:
        ids = {each_id.lower() for each_id in bulk.ids_of(record)}
    except ValueError as problem:
        raise BadReply(f"the response does not identify its item: {problem}"[:200]) from None
    if ids and bulk.normal(str(arguments[bulk.param])) not in ids:
        raise BadReply("the response is for a different item from the one requested")


def pieces(values: Sequence[Any], size: int = catalogue.BULK) -> Iterator[list[Any]]:
    """The values without repetitions, in their order, in lists of at most `size`."""
    distinct = list(dict.fromkeys(values))
    yield from (distinct[at : at + size] for at in range(0, len(distinct), size))


def parts(operation: str, values: Sequence[Any], body: bytes) -> dict[Any, bytes]:
    """The elements of a bulk answer by the values in the question, each as the body of its single form.

    Values without an answer and answers to no value are left out. Raises `BadReply`.
    """
    bulk = BULKS[operation]
    elements = [bytes(raw) for raw in _list(body)]
    if bulk.ids_of is None:
        if len(elements) != len(values):
            raise BadReply(f"{len(values)} items were requested and {len(elements)} returned, without identifiers")
        return dict(zip(values, elements, strict=True))
    by_id: dict[str, bytes] = {}
    for element in elements:
        for each_id, single in _with_ids(bulk, element):
            by_id.setdefault(each_id, single)
    normal_by_value = {value: bulk.normal(str(value)) for value in values}
    return {value: by_id[normal] for value, normal in normal_by_value.items() if normal in by_id}


def _list(body: bytes) -> list[msgspec.Raw]:
    try:
        return _elements.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadReply("the response is not the documented array") from None


def _with_ids(bulk: Bulk, element: bytes) -> Iterator[tuple[str, bytes]]:
    """The ids that an element answers, with the body of the single form; some services put the id beside the answer."""
    if bulk.single == "get_tx_out_proof" and element.lstrip()[:1] == b"{":
        proof_by_txid = records.decode(element, dict[str, str])
        yield from ((txid.lower(), msgspec.json.encode(proof)) for txid, proof in proof_by_txid.items())
        return
    record = records.decode(element, catalogue.by_name[bulk.single].result)
    try:
        yield from ((each_id.lower(), element) for each_id in (bulk.ids_of or _nobody)(record))
    except (NotAHeader, NotAProof, NotATransaction, ValueError) as problem:
        raise BadReply(f"an item in the response is not identified: {problem}"[:200]) from None
