"""What a payout's proof is made of: the bytes of its transaction and of the proof, as the desk has read them.

Both are answers of the chain-data service that pages read: reading records the interest, and a worker fetches what is
not there yet. Neither is believed; whoever uses them checks the bytes.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from chaindata.cache import answers
from chaindata.client import ChainClient
from exchange_ops.withdrawals.models import PROVEN, PayoutProof, Withdrawal
from wire.errors import CallFailed

_OPERATIONS: Final = ("get_raw_transaction", "get_tx_out_proof")


@dataclass(frozen=True, slots=True)
class Material:
    """Transaction and proof as hexadecimal text; both empty while one of them was not read yet."""

    transaction: str = ""
    proof: str = ""


def stored(row: Withdrawal, *, now: datetime) -> Material:
    """What the desk has of it; a worker fetches what is missing. Only a proven payout has any."""
    if not is_proven(row):
        return Material()
    readings = answers.read_many([(name, {"txid": row.hash.lower()}) for name in _OPERATIONS], now=now)
    return _complete(*(each.record if each.is_known else None for each in readings))


def fetched(row: Withdrawal, *, client: ChainClient) -> Material:
    """The same, from the service at once. Empty if it does not answer."""
    if not is_proven(row):
        return Material()
    try:
        return _complete(*(client.call(name, txid=row.hash.lower()) for name in _OPERATIONS))
    except CallFailed:
        return Material()


def is_proven(row: Withdrawal) -> bool:
    """Whether the chain has the payment, by the last check."""
    return bool(row.hash) and PayoutProof.objects.filter(withdrawal=row, standing=PROVEN).exists()


def _complete(transaction: object, proof: object) -> Material:
    if isinstance(transaction, str) and isinstance(proof, str) and transaction and proof:
        return Material(transaction, proof)
    return Material()
