"""Comparing what the exchange is about to do with what people approved, field by field, before anything is paid.

A payout's amount is what arrives, and its fee comes on top: with the fee taken out of the amount the two have to add up
to the requested amount (supplement 2.10). A tag that the exchange does not show at all is no difference.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from desk.fields import plain
from exchange_ops.addresses import destinations
from exchange_ops.withdrawals.evidence.ledger_lookup import PayoutVersion
from exchange_ops.withdrawals.models import Withdrawal
from wire.values import decimal_text

FEE_DRIFT = Decimal("0.10")
_NONE = "none"


@dataclass(frozen=True, slots=True)
class Echo:
    """The comparison: one item for each field, and whether the only difference is a fee that drifted."""

    items: list[dict[str, Any]]
    fee_drifted: bool

    @property
    def agrees(self) -> bool:
        """Whether every field is what was approved."""
        return all(item["agrees"] for item in self.items)

    @property
    def differences(self) -> str:
        """The fields that differ, as a sentence for people."""
        differing = [item for item in self.items if not item["agrees"]]
        parts = [
            f"{item['field']} is {item['theirs'] or _NONE}, approved was {item['ours'] or _NONE}" for item in differing
        ]
        return f"The exchange's record differs: {'; '.join(parts)}."


def compare(row: Withdrawal, record: PayoutVersion) -> Echo:
    """Compare the row with the exchange's own record of its hold."""
    fee = record.fee if record.fee is not None else row.fee_estimate
    expected = row.amount if not row.include_fee else row.amount - (fee or Decimal(0))
    same_place = destinations.same_address(code=row.currency, one=row.address, other=record.address)
    fee_agrees = record.fee is None or record.fee == row.fee_estimate
    items = [
        _item("type", "payout", record.type, record.type == "payout"),
        _item("currency", row.currency, record.currency, row.currency == record.currency),
        _item("amount", _text(expected), _text(record.amount), record.amount == expected),
        _item("fee", _text(row.fee_estimate), "not told" if record.fee is None else _text(record.fee), fee_agrees),
        _item("address", row.address, record.address, same_place),
        _item("payment_id", row.payment_id, record.payment_id, row.payment_id == record.payment_id),
        _item("tag", row.tag, record.public_comment or "not shown", record.public_comment in {"", row.tag}),
    ]
    only_fee = [item["field"] for item in items if not item["agrees"]] == ["fee"]
    return Echo(items, only_fee and _is_drift(row.fee_estimate, record.fee))


def _is_drift(estimate: Decimal | None, fee: Decimal | None) -> bool:
    if estimate is None or fee is None or fee < 0 or estimate <= 0:
        return False
    return abs(fee - estimate) <= estimate * FEE_DRIFT


def _item(field: str, ours: str, theirs: str, agrees: bool) -> dict[str, Any]:
    return {"field": field, "ours": ours, "theirs": theirs, "agrees": agrees}


def _text(amount: Decimal | None) -> str:
    return "unknown" if amount is None else decimal_text(plain(amount))
