"""A batch of payouts: nothing before it is confirmed, then one payout for each line, once."""

import csv
import io
import re
import uuid

import pytest

from exchange_ops.withdrawals.batches import reading
from exchange_ops.withdrawals.batches.models import PayoutBatch
from exchange_ops.withdrawals.models import Withdrawal
from tests.exchange_ops import rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
PATH = "/withdrawals/batch/"
OTHER = "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a"


def lines(*payouts):
    """CSV of payouts: amount, and what differs from a usual line."""
    out = io.StringIO()
    writer = csv.DictWriter(out, reading.COLUMNS, lineterminator="\n")
    writer.writeheader()
    usual = {"currency": "BCH", "address": rows.ADDRESS, "reason": "Invoice 2041", "network_fee": "", "payment_id": ""}
    for amount, *changes in payouts:
        writer.writerow({**usual, "amount": amount, **(changes[0] if changes else {})})
    return out.getvalue()


def checked(client, text, *, key="", **more):
    return client.post(PATH, {"text": text, "request_key": key or str(uuid.uuid4()), **more})


def hidden(page, name):
    return re.search(rf'name="{name}" value="([^"]*)"', page.content.decode())[1]


def confirmed(client, page, text, **more):
    fields = {name: hidden(page, name) for name in ("request_key", "mark")}
    return client.post(PATH, {"text": text, "step": "confirm", **fields, **more})


def test_a_batch_is_previewed_then_confirmed_and_each_line_is_one_payout(signed_in, operator):
    client, text = signed_in(operator), lines(("1.25",), ("0.123456789012345678", {"currency": "XYZ"}))
    rows.currency("XYZ", precision_payout=18)
    rows.balance("XYZ")
    page = checked(client, text)
    assert page.status_code == 200, page.content.decode()
    assert not PayoutBatch.objects.exists()
    assert not Withdrawal.objects.exists()
    answer = confirmed(client, page, text)
    batch = PayoutBatch.objects.get()
    assert answer.url == f"/withdrawals/batches/BT-{batch.pk}/"
