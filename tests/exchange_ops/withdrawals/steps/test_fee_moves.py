"""A network fee that moves between the estimate and the hold: the exchange's record is judged without an exchange."""

from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.policy import freezes
from exchange_ops.withdrawals import deadlines, machine
from exchange_ops.withdrawals.decisions import policy_evaluation
from exchange_ops.withdrawals.evidence.ledger_lookup import LedgerAnswer, PayoutVersion
from exchange_ops.withdrawals.steps import hold_monitor
from tests.exchange_ops import rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
TOKEN = {"currency": "ZRX", "address": "0x52908400098527886E0F7030069857D2E4169EE7"}
ON_TOP, INCLUDED = {}, {"include_fee": True}
STAYS, GOES_BACK, FREEZES = ("held", "echo_agrees", False), ("held", "fee_rose", False), ("rolling_back", "", True)


def held(operator, *, estimate, **changes):
    """A hold whose record was not compared yet; the highest fee follows from the estimate and the usual margin."""
    row = rows.requested(operator, now=clock.now(), **changes)
    facts = {"fee_estimate": Decimal(estimate), "fee_estimated_at": clock.now()}
    _, columns = policy_evaluation.evaluate(row, now=clock.now(), **facts)
    machine.move(row, event="submitted", to="queued", now=clock.now(), **columns)
    machine.move(row, event="hold_claimed", to="holding", now=clock.now(), attempt=1, tag=f"tx-{row.pk}")
    hour = deadlines.deadlines(clock.now())
    return machine.move(row, event="hold_accepted", to="held", now=clock.now(), exchange_id="ex-1", **hour)


def record_of(row, *, amount, fee):
    named = {"address": row.address, "payment_id": row.payment_id, "public_comment": row.tag, "currency": row.currency}
    nothing = {"hash": "", "confirmations": None, "error_code": ""}
    return PayoutVersion(
        exchange_id="ex-1",
        index=7,
        type="payout",
        status="created",
        amount=Decimal(amount),
        fee=None if fee is None else Decimal(fee),
        created_at=clock.now(),
        **named,
        **nothing,
    )


# The price of BCH is 500 USD, so 5 USD more than the estimate are 0.01 BCH: at most 0.011. The token has no price here,
# so the factor counts alone: at most 7.5.
@pytest.mark.parametrize(
    ("changes", "estimate", "amount", "fee", "outcome"),
    [
        pytest.param(ON_TOP, "0.001", "1.25", "0.0004", STAYS, id="down"),
        pytest.param(ON_TOP, "0.001", "1.25", "0", STAYS, id="to nothing"),
        pytest.param(ON_TOP, "0.001", "1.25", "0.00099999", STAYS, id="down, with more digits"),
        pytest.param(ON_TOP, "0.001", "1.25", "0.001000000000000000000001", STAYS, id="up by the last of 24 digits"),
        pytest.param(ON_TOP, "0.001", "1.25", "0.0110000", STAYS, id="up to the highest fee, with other zeros"),
        pytest.param(ON_TOP, "0.001", "1.25", "0.011000000000000000000001", GOES_BACK, id="above it by the last digit"),
        pytest.param(ON_TOP, "0.001", "1.25", "0.1", GOES_BACK, id="a hundredfold"),
        pytest.param(ON_TOP, "0.001", "1.25", "7000", GOES_BACK, id="more than the wallet holds"),
        pytest.param(ON_TOP, "0.001", "1.25", None, STAYS, id="not shown by the exchange"),
        pytest.param(ON_TOP, "0.001", "1.249", "0.001", FREEZES, id="on top, and taken out of the amount"),
        pytest.param(INCLUDED, "0.001", "1.2496", "0.0004", STAYS, id="included, down"),
        pytest.param(INCLUDED, "0.001", "1.25", "0", STAYS, id="included, to nothing"),
        pytest.param(INCLUDED, "0.001", "1.239", None, STAYS, id="included and not shown: what is missing is the fee"),
        pytest.param(INCLUDED, "0.001", "1.2", None, GOES_BACK, id="included and not shown, above"),
        pytest.param(INCLUDED, "0.001", "1.2", "0.05", GOES_BACK, id="included, above"),
        pytest.param(INCLUDED, "0.001", "1.24", "0.001", FREEZES, id="included, and more is missing than the fee"),
        pytest.param(TOKEN, "5", "1.25", "7.5", STAYS, id="of a token, up to the highest fee"),
        pytest.param(TOKEN, "5", "1.25", "7.500001", GOES_BACK, id="of a token, above"),
        pytest.param(TOKEN, "0", "1.25", "0.000001", GOES_BACK, id="of a token that was paid out for nothing"),
    ],
)
def test_a_fee_that_moved_stops_nothing_or_goes_back_to_the_approvers(
    *, operator, monkeypatch, changes, estimate, amount, fee, outcome
):
    rows.currency("ZRX", now=clock.now())
    row = held(operator, estimate=estimate, **changes)
    approved, hold = row.fee_limit, row.exchange_id
    record = record_of(row, amount=amount, fee=fee)
    monkeypatch.setattr(hold_monitor.ledger_lookup, "read", lambda *_, **__: LedgerAnswer(None, record, record))
    monkeypatch.setattr(hold_monitor.ledger_lookup, "store", lambda *_, **__: None)
    hold_monitor.step(row, now=clock.now(), client_for=None)
    row.refresh_from_db()
    event = row.events.last().event
    state, expected, is_frozen = outcome
    assert (row.state, freezes.active(row.account) is not None) == (state, is_frozen)
    assert event == (expected or event)
    if outcome == FREEZES:
        return
    assert (row.exchange_id, row.decision, row.echo_ok) == (hold, "none", True)
    paid = row.amount - record.amount if fee is None and row.include_fee else record.fee
    assert paid is None or paid <= row.fee_limit
    assert row.earlier_fee_limit == (approved if outcome == GOES_BACK else None)
