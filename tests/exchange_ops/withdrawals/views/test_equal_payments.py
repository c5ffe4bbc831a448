"""The same amount to the same recipient within a day is named where it is asked for and where it is approved."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.withdrawals import equal_payments, machine
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def earlier(operator, treasury, payable):
    """A payment that was asked for an hour ago and is on its way to be paid."""
    return rows.held(operator, now=clock.now() - timedelta(hours=1))


def named(page):
    """The references that the warning names; None without a warning."""
    found = re.search(r"payout of the same amount to this recipient.*?</ul>", page, re.DOTALL)
    return re.findall(r">(W-\d+)<", found[0]) if found else None


def figures(client, **changes):
    typed = {"currency": "BCH", "amount": "1.250", "address": f" {rows.ADDRESS}", "fee_from": "on_top"}
    return client.post("/withdrawals/new/figures/", {**typed, **changes}).content.decode()


def test_the_form_names_who_when_and_state(signed_in, operator, earlier):
    client = signed_in(operator)
    page = figures(client)
    assert named(page) == [earlier.reference]
    assert f'href="/withdrawals/{earlier.pk}/"' in page
    assert "Reserved, waiting for approvals" in page
    assert "by <bdi>operator</bdi>" in page
    assert 'data-age data-local datetime="' in page
    for other in ({"amount": "1.2500001"}, {"address": rows.ADDRESS[:-1]}, {"address": ""}, {"currency": "XRP"}):
        assert named(figures(client, **other)) is None, other


def test_the_approval_card_names_the_other_and_never_itself(signed_in, operator, treasury, earlier):
    client = signed_in(treasury)
    assert named(client.get(f"/withdrawals/{earlier.pk}/").content.decode()) is None
    later = rows.held(operator, now=clock.now())
    for row, other in ((earlier, later), (later, earlier)):
        part = client.get(f"/withdrawals/{row.pk}/", headers={"HX-Request": "true", "HX-Target": "decide"})
        assert named(part.content.decode()) == [other.reference]


def test_what_is_clearly_not_paid_or_older_than_a_day_is_not_named(operator, earlier):
    now = clock.now()
    same = {
        "account": earlier.account,
        "currency": "BCH",
        "amount": Decimal("1.25"),
        "address": rows.ADDRESS,
        "payment_id": "",
    }
    rows.ended(operator, now=now)
    machine.move(rows.requested(operator, now=now), event="cancelled", to="cancelled", now=now, actor=operator)
    assert equal_payments.find(**same, at=now) == [earlier]
    assert equal_payments.find(**same, at=now + timedelta(hours=23, minutes=1)) == []
    assert equal_payments.find(**same, at=now - timedelta(hours=25, minutes=1)) == []
    assert equal_payments.find(**{**same, "amount": Decimal("1.2500000000000000000001")}, at=now) == []
