"""The payees' book in the payout form: it fills in the recipient, and no other one than is shown is requested."""

import re
from datetime import timedelta

import pytest
from django.utils.html import strip_tags

from desk import clock
from exchange_ops.withdrawals.models import Withdrawal
from tests.exchange_ops import rows
from tests.exchange_ops.permissions.subjects.payees import added, approved_by_two

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]

ELSEWHERE = "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78"


@pytest.fixture
def payee(operator, monkeypatch):
    """An approved payee whose cooling-off period is over."""
    row = approved_by_two(added(operator))
    later = row.counts_from + timedelta(minutes=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    rows.price(now=later)
    return row


def typed(**changes):
    fields = {"currency": "BCH", "amount": "0.5", "fee_from": "from_amount", "address": "", "payment_id": ""}
    key = {"reason": "Rent of May", "request_key": "7b1f3f4e-5b1b-4b7e-9a53-1f2f5f3f1a10"}
    return {**fields, **key, **changes}


def value(page, name):
    found = re.search(rf'<input[^>]*name="{name}"[^>]*>', page)[0]
    return (re.search(r'value="([^"]*)"', found) or ["", ""])[1]


def test_it_fills_in_the_recipient_and_keeps_what_was_typed(payee, operator, signed_in):
    client = signed_in(operator)
    assert f'value="{payee.pk}"' in client.get("/withdrawals/new/").content.decode()
    page = client.post("/withdrawals/new/", typed(payee=payee.pk, fill="payee", currency="")).content.decode()
    assert (value(page, "address"), value(page, "amount")) == (payee.address, "0.5")
    assert value(page, "request_key") == typed()["request_key"]
    assert f'<option value="{payee.pk}" selected' in page
    assert '<option value="BCH" selected' in page
    assert "Rent of May" in page
    assert re.search(r'value="from_amount"\s+checked', page)
    assert not Withdrawal.objects.exists()
    client.post("/withdrawals/new/", typed(payee=payee.pk, address=payee.address))
    assert Withdrawal.objects.get().address == payee.address


def test_another_recipient_than_the_chosen_payee_is_never_requested(payee, operator, signed_in):
    client = signed_in(operator)
    for wrong in ({"address": ELSEWHERE}, {"address": ""}, {"address": payee.address, "payment_id": "7"}):
        page = client.post("/withdrawals/new/", typed(payee=payee.pk, **wrong))
        assert page.status_code == 422
        assert wrong["address"] == "" or "The recipient below is not this payee." in page.content.decode()
    unknown = client.post("/withdrawals/new/", typed(payee="999", address=payee.address))
    assert "not an approved payee in this currency now" in unknown.content.decode()
    assert not Withdrawal.objects.exists()
    client.post("/withdrawals/new/", typed(payee="", address=ELSEWHERE))
    assert Withdrawal.objects.get().address == ELSEWHERE


def test_it_offers_only_payees_that_count_now_in_the_chosen_currency(operator, signed_in, monkeypatch):
    waiting, row = added(operator, address=ELSEWHERE), approved_by_two(added(operator))

    def picker(**fields):
        return signed_in(operator).post("/withdrawals/new/payees/", typed(**fields)).content.decode()

    def offered(**fields):
        return {int(number) for number in re.findall(r'<option value="(\d+)"', picker(**fields))}

    assert offered() == set(), "one is not approved, the other one cooling off"
    later = row.counts_from + timedelta(minutes=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert offered() == offered(currency="") == {row.pk} != {waiting.pk}
    assert offered(currency="BTC") == set()
    assert "No approved payees in BTC" in " ".join(strip_tags(picker(currency="BTC")).split())
