"""The digest of a withdrawal: one hash over exactly what people approve, so that any change makes their word void."""

import hashlib
import json

from exchange_ops.models import Withdrawal
from wire.values import decimal_text

_FORM = "countersign-withdrawal-1"


def of(withdrawal: Withdrawal) -> str:
    """SHA-256 in hex over the payment's content, its estimated fee and the rules it was judged by."""
    content = {
        "form": _FORM,
        "id": withdrawal.pk,
        "account": withdrawal.account_id,
        "initiator": withdrawal.initiator_id,
        "currency": withdrawal.currency,
        "amount": decimal_text(withdrawal.amount),
        "include_fee": withdrawal.include_fee,
        "fee": None if withdrawal.fee_estimate is None else decimal_text(withdrawal.fee_estimate),
        "address": withdrawal.address,
        "payment_id": withdrawal.payment_id,
        "reason": withdrawal.reason,
        "policy": withdrawal.policy_version,
        "quorum": withdrawal.quorum_required,
        "mode": withdrawal.mode,
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
