"""The digest of a withdrawal: one hash over exactly what people approve, so that any change makes their word void."""

import hashlib
import json
from decimal import Decimal

from desk.fields import plain
from exchange_ops.models import Withdrawal
from wire.values import decimal_text

CONTENT = (
    "account_id",
    "initiator_id",
    "currency",
    "amount",
    "include_fee",
    "fee_estimate",
    "address",
    "payment_id",
    "reason",
    "policy_version",
    "quorum_required",
    "mode",
)
_FORM = "countersign-withdrawal-1"


def of(withdrawal: Withdrawal, *, freeze_number: int) -> str:
    """SHA-256 in hex over the payment's content, its estimated fee, the rules it was judged by and the last freeze."""
    content = {name: _plain(getattr(withdrawal, name)) for name in CONTENT}
    content |= {"form": _FORM, "id": withdrawal.pk, "freeze": freeze_number}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: object) -> object:
    # Equal amounts have one text, whatever zeros they were written with.
    return decimal_text(plain(value)) if isinstance(value, Decimal) else value
