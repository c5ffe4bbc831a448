"""A payment cut in pieces takes the approvals of the whole: the tier is that of a day's sum to one recipient."""

import re
from datetime import timedelta
from decimal import Decimal
from itertools import permutations

import pytest

from desk import clock
from exchange_ops.withdrawals.decisions import policy_evaluation
from exchange_ops.withdrawals.models import Withdrawal
from tests.exchange_ops import rows
from tests.exchange_ops.withdrawals.test_recipients import paid

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
PIECE = Decimal("16.6")  # 8,300 USD; the first tier ends at 10,000
OTHER = "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78"


def evaluated(row):
    return policy_evaluation.evaluate(row, now=clock.now())[0].approvals


def test_four_pieces_take_the_approvals_of_their_sum(operator, treasury, signed_in):
    pieces = [rows.requested(operator, now=clock.now(), amount=PIECE) for _ in range(4)]
    assert [evaluated(row) for row in pieces] == [2, 2, 2, 2]
    row = rows.held(operator, now=clock.now(), amount=PIECE)
    assert row.quorum_required == 2
    assert row.quote_value == Decimal(8300), "its own value stays its own"
    assert (
        "Last 24 hours to this recipient, including this one: 5 payouts, 41,500.00 USD in total" in row.policy_trace[0]
    )
    page, card = (
        re.sub(r"\s+", " ", signed_in(treasury).get(path).content.decode())
        for path in (f"/withdrawals/{row.pk}/", "/approvals/")
    )
    assert "5 payouts to this recipient, including this one: ≈ 41,500.00 USD" in page
    assert "5 payouts to this recipient, ≈ 41,500.00 USD in total" in card
    form = {"currency": "BCH", "amount": "1", "address": rows.ADDRESS, "payment_id": "", "fee_from": "on_top"}
    assert "2 approvals required" in signed_in(operator).post("/withdrawals/new/figures/", form).content.decode()


def test_whatever_the_order_of_requests_and_checks_no_two_pieces_pass_by_themselves(operator):
    steps = [(name, each) for each in (0, 1) for name in ("request", "judge")]
    orders = {
        order
        for order in permutations(steps)
        if all(order.index(("request", n)) < order.index(("judge", n)) for n in (0, 1))
    }
    assert len(orders) == 6
    for number, order in enumerate(sorted(orders)):
        pieces, approvals = {}, {}
        for name, each in order:
            if name == "request":
                # A recipient of its own for each order, so that they don't count together.
                pieces[each] = rows.requested(operator, now=clock.now(), amount=PIECE, payment_id=str(number))
            else:
                approvals[each] = evaluated(pieces[each])
        assert sorted(approvals.values()) in ([1, 2], [2, 2]), order


def test_what_counts_are_pending_and_paid_ones_of_the_day_to_this_recipient(operator, treasury):
    row = rows.requested(operator, now=clock.now(), amount=PIECE)
    rows.ended(operator, now=clock.now(), amount=PIECE)
    rows.requested(operator, now=clock.now(), amount=PIECE, address=OTHER)
    rows.requested(operator, now=clock.now(), amount=PIECE, payment_id="7")
    before = paid(operator, treasury, amount=PIECE)
    assert evaluated(row) == 2
    Withdrawal.objects.filter(pk=before.pk).update(decided_at=clock.now() - timedelta(hours=25))
    assert evaluated(row) == 1, "only what was paid within a day, and nothing that was released or is for others"
    entry = {"type": "payout", "address": rows.ADDRESS, "amount": PIECE, "now": clock.now()}
    rows.entry(1, status="failed", **entry)
    assert evaluated(row) == 1
    rows.entry(2, status="success", **entry)
    assert evaluated(row) == 2, "what was paid elsewhere counts by the ledger"


def test_another_coin_to_the_same_address_counts_and_a_missing_price_takes_the_last_tier(operator):
    rows.currency("BSV", now=clock.now())
    row = rows.requested(operator, now=clock.now(), amount=Decimal(1))
    assert evaluated(row) == 1
    rows.requested(operator, now=clock.now(), amount=Decimal(1), currency="BSV")
    assert evaluated(row) == 3
    rows.price("BSV", last="9700", now=clock.now())
    assert evaluated(row) == 2
