"""Asking for a payout: every odd value has its sentence beside its field, and nothing is written or sent."""

from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.ledger.models import Balance
from exchange_ops.market.models import Currency
from exchange_ops.policy import quorum as policy
from exchange_ops.withdrawals import workflow
from exchange_ops.withdrawals.models import Withdrawal
from tests.exchange_ops.withdrawals.walks import ADDRESS, OTHER_ADDRESS, Walk

pytestmark = pytest.mark.django_db

BCH = "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a"


@pytest.fixture
def ask(operator, treasury, account):
    """A desk with four currencies and no exchange: asking calls nobody."""
    now = clock.now()
    policy.ensure_first(now=now)
    known = {"payout_enabled": True, "payout_fee": Decimal("0.001"), "precision_payout": 8, "read_at": now}
    Currency.objects.create(code="BTC", payout_minimal_amount=Decimal("0.01"), **known)
    Currency.objects.create(code="XRP", payout_is_payment_id=True, **known)
    Currency.objects.create(code="OFF", **(known | {"payout_enabled": False}))
    Currency.objects.create(code="OLD", delisted=True, **known)
    Currency.objects.create(code="USD", crypto=False, **known)
    Balance.objects.create(
        account=account, currency="BTC", wallet="bank", available=Decimal("5"), reserved=0, read_at=now
    )
    return Walk(account=account, sandbox=None, operator=operator, approvers=[treasury]).request


def problems(ask, **changes):
    with pytest.raises(workflow.CannotRequest) as found:
        ask(**changes)
    assert Withdrawal.objects.count() == 0
    return found.value.problems


def test_a_good_request_is_a_draft_in_normal_form(ask):
    row = ask(amount=Decimal("0.0500"), address=f"  {ADDRESS} ", reason=" An invoice ")
    assert (row.state, row.amount, row.address, row.reason) == ("draft", Decimal("0.05"), ADDRESS, "An invoice")
    assert (row.reference, row.turn, row.is_open) == (f"W-{row.pk}", "worker", True)
    assert row.leaves is None
    assert row.arrives == Decimal("0.05")


@pytest.mark.parametrize(
    ("amount", "says"),
    [
        (Decimal(0), "greater than zero"),
        (Decimal("-1"), "greater than zero"),
        (Decimal("0.009"), "The recipient must get at least 0.01 BTC"),
        (Decimal("0.0123456789"), "at most 8 decimals"),
        (Decimal("5"), "5.001 BTC would be debited including the fee, but only 5 were available"),
        (Decimal("1e40"), "Enter a valid amount"),
        (Decimal("NaN"), "Enter a valid amount"),
        (Decimal("Infinity"), "Enter a valid amount"),
        (Decimal("1e-30"), "Enter a valid amount"),
        (1.5, "Enter a valid amount"),
        ("1", "Enter a valid amount"),
        (None, "Enter a valid amount"),
    ],
)
def test_an_odd_amount(ask, amount, says):
    assert says in problems(ask, amount=amount)["amount"]


@pytest.mark.parametrize(
    ("amount", "says"),
    [("0.001", "exceeds the amount"), ("0.0109", "The recipient must get at least 0.01 BTC; only 0.0099 would arrive")],
)
def test_an_amount_that_the_fee_eats(ask, amount, says):
    assert says in problems(ask, amount=Decimal(amount), include_fee=True)["amount"]


@pytest.mark.parametrize(
    ("currency", "says"),
    [
        ("", "not listed on the exchange"),
        ("btc", "not listed on the exchange"),
        ("NIX", "not listed on the exchange"),
        ("OFF", "suspended OFF payouts"),
        ("OLD", "delisted"),
        ("USD", "has no blockchain"),
    ],
)
def test_an_odd_currency(ask, currency, says):
    assert says in problems(ask, currency=currency)["currency"]


@pytest.mark.parametrize(
    "address",
    [
        "",
        " ",
        "x",
        ADDRESS[:-1],
        ADDRESS + "x",
        ADDRESS.lower(),
        ADDRESS.replace("1", "l"),
        "А" + ADDRESS[1:],
        ADDRESS + "\u200b",
        "0x" + "0" * 40,
        "a" * 5000,
    ],
)
def test_an_odd_address(ask, address):
    assert problems(ask, address=address)["address"]


def test_a_payment_id_where_there_is_none(ask):
    assert problems(ask, payment_id="7")["payment_id"]


@pytest.mark.parametrize(
    ("reason", "says"), [("", "Enter the purpose"), ("  ", "Enter the purpose"), ("x" * 501, "At most 500")]
)
def test_an_odd_reason(ask, reason, says):
    assert says in problems(ask, reason=reason)["reason"]


@pytest.mark.parametrize("key", ["", "x" * 81])
def test_a_lost_key(ask, key):
    assert "Reload the page and try again" in problems(ask, request_key=key)["__all__"]


def test_all_problems_are_told_at_once(ask):
    assert set(problems(ask, amount=Decimal(0), address="x", reason="")) == {"amount", "address", "reason"}


@pytest.mark.parametrize("role", ["treasury", "admin", "auditor", None])
def test_only_operators_ask(ask, make_person, role):
    person = make_person(*([role] if role else []), username="somebody-else")
    assert "Only operators" in problems(ask, initiator=person)["__all__"]


def test_a_double_click_is_one_request(ask):
    first, second = ask(request_key="same"), ask(request_key="same")
    assert first.pk == second.pk
    assert Withdrawal.objects.count() == 1
    assert (
        ask(request_key="same", amount=Decimal("0.0500"), address=f" {ADDRESS}", reason="An invoice of a supplier ").pk
        == first.pk
    )


@pytest.mark.parametrize(
    "changes", [{"amount": Decimal("0.06")}, {"address": OTHER_ADDRESS}, {"include_fee": True}, {"reason": "Another"}]
)
def test_a_used_key_with_other_content_is_refused(ask, changes):
    first = ask(request_key="same")
    with pytest.raises(workflow.CannotRequest, match=f"with different content, as {first.reference}"):
        ask(request_key="same", **changes)
    assert Withdrawal.objects.count() == 1


def test_two_people_may_use_the_same_key(ask, make_person):
    ask(request_key="same")
    ask(request_key="same", initiator=make_person("operator", username="operator2"))
    assert Withdrawal.objects.count() == 2


def test_without_rules_nothing_is_asked_for(ask):
    from django.db import connection

    from exchange_ops.policy import room
    from exchange_ops.policy.models import PolicyVersion, QuorumTier

    room.GUARDS.remove(connection)
    QuorumTier.objects.all().delete()
    PolicyVersion.objects.all().delete()
    room.GUARDS.install(connection)
    assert "no policy is in force" in problems(ask)["__all__"]
