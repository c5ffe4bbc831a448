"""The digest of a withdrawal: one code over exactly what people approve, so that any change makes their word void.

It is made under a key that is not in the database, so nobody who only changes rows can give changed content, a smaller
quorum for instance, the digest that belongs to it.
"""

import json
from decimal import Decimal
from typing import Any

from desk import sealing
from desk.fields import plain
from exchange_ops.withdrawals.models import Withdrawal
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
    """HMAC-SHA256 in hex over the payment's content, its estimated fee, the rules it was judged by and the last freeze,
    by the newest key of the ring."""
    return made(_content(withdrawal, freeze_number))[0]


def is_of(digest: str, withdrawal: Withdrawal, *, freeze_number: int) -> bool:
    """Whether this is the digest of that content, under any key of the ring."""
    return digest in made(_content(withdrawal, freeze_number))


def made(content: dict[str, Any]) -> list[str]:
    """The digest of such content, in JSON's own types, under every key of the ring, the newest key's first."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return [code.rpartition(":")[2] for code in sealing.codes(text.encode(), context="exchange_ops.digest")]


def _content(withdrawal: Withdrawal, freeze_number: int) -> dict[str, Any]:
    content = {name: _plain(getattr(withdrawal, name)) for name in CONTENT}
    return content | {"form": _FORM, "id": withdrawal.pk, "freeze": freeze_number}


def _plain(value: object) -> object:
    # Equal amounts have one text, whatever zeros they were written with.
    return decimal_text(plain(value)) if isinstance(value, Decimal) else value
