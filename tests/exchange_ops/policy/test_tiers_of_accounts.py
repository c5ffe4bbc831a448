"""Two accounts with different tiers in one version: each is judged by its own, and forged ones are found."""

from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, transaction

from desk import audit_check, clock
from desk.audit import witness_chain
from exchange_ops.policy import quorum, room
from exchange_ops.policy.models import PolicyVersion, QuorumTier
from exchange_ops.policy.modes import APPROVE_THEN_HOLD, HOLD_THEN_APPROVE
from exchange_ops.shared import facts
from exchange_ops.shared.models import Account
from tests.exchange_ops import rows
from tests.rows import unguarded

pytestmark = pytest.mark.django_db


@pytest.fixture
def two():
    """The first account under the tiers for every other one, and a second one with stricter ones of its own."""
    now = clock.now()
    first = rows.account(now=now)
    second = Account.objects.create(name="Second desk", quote_currency="USD")
    facts.note(account=second, name=facts.HOLD_END, value=facts.LAPSES, now=now)
    rows.currency("BCH", now=now)
    rows.price("BCH", "USD", last="500", now=now)
    version = PolicyVersion.objects.create(number=2, published_at=now)
    for up_to, approvals, mode in quorum.FIRST_TIERS:
        QuorumTier.objects.create(policy=version, up_to=up_to, approvals=approvals, mode=mode)
    own = {"policy": version, "account": second}
    QuorumTier.objects.create(up_to=Decimal(100), approvals=2, mode=HOLD_THEN_APPROVE, **own)
    QuorumTier.objects.create(up_to=Decimal(1000), approvals=4, mode=APPROVE_THEN_HOLD, **own)
    return first, second


def judge(account, value):
    worth = None if value is None else Decimal(value)
    return quorum.judge(quorum.current(), account=account, currency="BCH", quote_value=worth, payout=pytest.fail)


@pytest.mark.parametrize(
    ("value", "first_needs", "second_needs"),
    [
        ("100", (1, HOLD_THEN_APPROVE), (2, HOLD_THEN_APPROVE)),
        ("100.01", (1, HOLD_THEN_APPROVE), (4, APPROVE_THEN_HOLD)),
        ("1000.01", (1, HOLD_THEN_APPROVE), None),
        ("20000", (2, HOLD_THEN_APPROVE), None),
        (None, (3, APPROVE_THEN_HOLD), None),
    ],
)
def test_the_same_value_takes_what_the_tiers_of_its_account_say(two, value, first_needs, second_needs):
    for account, needs in zip(two, (first_needs, second_needs), strict=True):
        verdict = judge(account, value)
        if needs is None:
            assert "no policy tier covers this value" in verdict.blocked
        else:
            assert (verdict.approvals, verdict.mode, verdict.blocked) == (*needs, None)


def test_the_verdict_says_whose_tiers_they_were(two):
    first, second = two
    assert judge(first, "5").trace[0].endswith("tier up to 10,000.00 USD (policy v2).")
    assert judge(second, "5").trace[0].endswith("tier up to 100.00 USD (policy v2, account tiers).")


def test_two_requests_of_one_amount_take_what_their_accounts_ask(two, operator):
    now = clock.now()
    here, there = (
        rows.submitted(operator, now=now, to="queued", amount=Decimal("0.1"), account=account) for account in two
    )
    assert (here.quorum_required, there.quorum_required) == (1, 2)
    assert here.digest != there.digest


def test_own_tiers_of_an_earlier_version_judge_nothing_any_more(two):
    newer = PolicyVersion.objects.create(number=3, published_at=clock.now())
    QuorumTier.objects.create(policy=newer, up_to=None, approvals=1, mode=HOLD_THEN_APPROVE)
    assert [judge(account, "5000").approvals for account in two] == [1, 1]


def test_an_account_added_later_is_judged_as_every_other_one(two):
    third = Account.objects.create(name="Third desk", quote_currency="USD")
    assert judge(third, "20000").approvals == 2


@pytest.mark.parametrize("is_own", [True, False])
@pytest.mark.parametrize("up_to", [Decimal(100), None])
def test_the_database_keeps_one_tier_of_an_account_for_each_end(two, is_own, up_to):
    version = PolicyVersion.objects.create(number=3, published_at=clock.now())
    columns = {"policy": version, "account": two[1] if is_own else None, "up_to": up_to, "mode": HOLD_THEN_APPROVE}
    QuorumTier.objects.create(approvals=2, **columns)
    QuorumTier.objects.create(approvals=2, **columns | {"account": two[0]})
    with pytest.raises(IntegrityError), transaction.atomic():
        QuorumTier.objects.create(approvals=1, **columns)


def test_the_database_itself_lets_no_tier_change_its_account(two):
    for statement in ("UPDATE exchange_ops_quorumtier SET account_id = NULL", "DELETE FROM exchange_ops_quorumtier"):
        with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        # Judged as every other account again; by looser tiers of its own; by somebody else's; by none.
        "UPDATE exchange_ops_quorumtier SET account_id = {first} WHERE account_id = {second}",
        "UPDATE exchange_ops_quorumtier SET approvals = 1 WHERE account_id = {second}",
        "DELETE FROM exchange_ops_quorumtier WHERE account_id = {second}",
        "INSERT INTO exchange_ops_quorumtier (policy_id, account_id, currency, up_to, approvals, mode) "
        "SELECT policy_id, {first}, currency, 50, 1, mode FROM exchange_ops_quorumtier WHERE approvals = 4",
    ],
)
def test_tiers_of_an_account_that_were_forged_are_found_and_pay_nothing(two, statement):
    first, second = two
    witness_chain.write_noted()
    assert not any("quorumtier" in finding for finding in audit_check.verify(replay=True))
    with unguarded(room.GUARDS), connection.cursor() as cursor:
        cursor.execute(statement.format(first=first.pk, second=second.pk))
    for account in two:
        assert "changed in the database, outside Countersign" in judge(account, "5").blocked
    assert any("exchange_ops.quorumtier" in finding for finding in audit_check.verify(replay=True))
