"""What the ledger explains of a balance that moved while the answer of a transfer was lost."""

from decimal import Decimal

import pytest

from exchange_ops.transfers import snapshots
from exchange_ops.transfers.models import TransferCall
from exchange_ops.transfers.snapshots import Snapshot
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("kind", "balance"),
    [
        ("payin", "11"),
        ("payout", "8.9"),
        ("withdraw", "8.9"),
        ("bankToExchange", "9"),
        ("exchangeToBank", "11"),
    ],
)
def test_each_kind_of_movement_in_between_is_explained_with_its_sign_and_what_leaves_with_its_fee(kind, balance):
    line = rows.entry(5, type=kind, amount=Decimal(1), fee=Decimal("0.1") if kind in {"payout", "withdraw"} else None)
    call = TransferCall(
        account=line.account, watermark=4, balances={"bank": {"BCH": {"available": "7", "reserved": "3"}}}
    )
    bank = {"BCH": {"available": Decimal(balance), "reserved": Decimal(0)}}
    assert snapshots.unexplained(call, Snapshot(5, {"bank": bank})) == {}
