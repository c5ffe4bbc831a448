"""Comparing what the exchange is about to do with what people approved, field by field, before anything is paid.

A payout's amount is what arrives, and its fee comes on top: with the fee taken out of the amount the two have to add up
to the requested amount (supplement 2.10). The fee agrees as long as it is not above the highest that was approved. A
tag that the exchange does not show at all is no difference.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from desk.fields import plain
from exchange_ops.addresses import destinations
from exchange_ops.withdrawals.evidence.ledger_lookup import PayoutVersion
from exchange_ops.withdrawals.models import Withdrawal
from wire.values import decimal_text

_NONE = "none"


@dataclass(frozen=True, slots=True)
class Echo:
    """The comparison: one item for each field."""

    items: list[dict[str, Any]]

    @property
    def agrees(self) -> bool:
        """Whether every field is what was approved."""
        return all(item["agrees"] for item in self.items)

    @property
    def is_fee_above(self) -> bool:
        """Whether the only difference is a fee above the highest that was approved."""
        return [item["field"] for item in self.items if not item["agrees"]] == ["fee"]

    @property
    def differences(self) -> str:
        """The fields that differ, as a sentence for people."""
        differing = [item for item in self.items if not item["agrees"]]
        parts = [
            f"{item['field']} is {item['theirs'] or _NONE}, approved: {item['ours'] or _NONE}" for item in differing
        ]
        return f"The exchange's record differs: {'; '.join(parts)}."


def compare(row: Withdrawal, record: PayoutVersion, *, fee_limit: Decimal | None = None) -> Echo:
    """Compare the row with the exchange's own record of its hold, by its highest fee or by this one.

    A fee below zero is no fee; with the fee taken out of the amount, no more than the amount may arrive.
    """
    most = row.fee_limit if fee_limit is None else fee_limit
    fee = row.amount - record.amount if record.fee is None else record.fee
    expected = row.amount if not row.include_fee else row.amount - max(fee, Decimal(0))
    is_within = (record.fee is None and not row.include_fee) or (most is not None and fee <= most)
    same_place = destinations.same_address(code=row.currency, one=row.address, other=record.address)
    items = [
        _item("type", "payout", record.type, record.type == "payout"),
        _item("currency", row.currency, record.currency, row.currency == record.currency),
        _item("amount", _text(expected), _text(record.amount), record.amount == expected),
        _item("fee", f"at most {_text(most)}", "not reported" if record.fee is None else _text(record.fee), is_within),
        _item("address", row.address, record.address, same_place),
        _item("payment_id", row.payment_id, record.payment_id, row.payment_id == record.payment_id),
        _item("tag", row.tag, record.public_comment or "not shown", record.public_comment in {"", row.tag}),
    ]
    return Echo(items)


def _item(field: str, ours: str, theirs: str, agrees: bool) -> dict[str, Any]:
    return {"field": field, "ours": ours, "theirs": theirs, "agrees": agrees}


def _text(amount: Decimal | None) -> str:
    return "unknown" if amount is None else decimal_text(plain(amount))
