"""The first rules: which tier a value falls into, and that what is unknown is never cheap."""

from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.market.models import Currency
from exchange_ops.policy import modes, quorum
from exchange_ops.policy.models import PolicyVersion, QuorumTier
from exchange_ops.shared import facts
from exchange_ops.shared.models import Fact

pytestmark = pytest.mark.django_db


@pytest.fixture
def judge(account):
    now = clock.now()
    quorum.ensure_first(now=now)
    Currency.objects.create(code="BTC", payout_enabled=True, read_at=now)

    def call(value, currency="BTC", quote="USD"):
        account.quote_currency = quote
        worth = None if value is None else Decimal(value)
        return quorum.judge(quorum.current(), account=account, currency=currency, quote_value=worth, payout=pytest.fail)

    return call


@pytest.mark.parametrize(
    ("value", "approvals", "mode"),
    [
        ("0", 1, modes.HOLD_THEN_APPROVE),
        ("10000", 1, modes.HOLD_THEN_APPROVE),
        ("10000.00000001", 2, modes.HOLD_THEN_APPROVE),
        ("250000", 2, modes.HOLD_THEN_APPROVE),
        ("250000.00000001", 3, modes.APPROVE_THEN_HOLD),
        ("1e30", 3, modes.APPROVE_THEN_HOLD),
        (None, 3, modes.APPROVE_THEN_HOLD),
        ("-1", 3, modes.APPROVE_THEN_HOLD),
    ],
)
def test_the_tiers(judge, value, approvals, mode):
    verdict = judge(value)
    assert (verdict.approvals, verdict.mode, verdict.version, verdict.blocked) == (approvals, mode, 1, None)
    assert verdict.trace[0].startswith(f"{approvals} approval")
    assert all(sentence.endswith(".") for sentence in verdict.trace)


@pytest.mark.parametrize("seen", [None, "created", "success", ""])
def test_without_proof_that_a_hold_lapses_the_approvals_come_first(judge, account, seen):
    Fact.objects.all().delete()
    if seen is not None:
        facts.note(account=account, name=facts.HOLD_END, value=seen, now=clock.now())
    verdict = judge("5")
    assert (verdict.approvals, verdict.mode) == (1, modes.APPROVE_THEN_HOLD)
    assert (
        "Approval first, then reservation, then a final release approval: we have not yet verified" in verdict.trace[1]
    )


def test_the_newest_proof_counts(judge, account):
    facts.note(account=account, name=facts.HOLD_END, value="success", now=clock.now())
    assert judge("5").mode == modes.APPROVE_THEN_HOLD
    facts.note(account=account, name=facts.HOLD_END, value=facts.LAPSES, now=clock.now())
    assert judge("5").mode == modes.HOLD_THEN_APPROVE


def test_a_value_in_another_currency_than_the_rules_counts_as_unknown(judge):
    assert judge("5", quote="EUR").approvals == 3


def test_a_currency_nobody_described_is_blocked(judge):
    verdict = judge("5", currency="NIX")
    assert verdict.approvals == 0
    assert "NIX" in verdict.blocked


def test_rules_that_cover_nothing_block(judge):
    newer = PolicyVersion.objects.create(number=2, published_at=clock.now())
    QuorumTier.objects.create(policy=newer, up_to=Decimal(5), approvals=1, mode=modes.HOLD_THEN_APPROVE)
    assert judge("5").approvals == 1
    assert judge("6").blocked
    assert judge(None).blocked
    PolicyVersion.objects.create(number=3, published_at=clock.now())
    assert judge("1").blocked


def test_the_newest_number_is_in_force(judge):
    PolicyVersion.objects.create(number=9, published_at=clock.now())
    PolicyVersion.objects.create(number=4, published_at=clock.now())
    assert quorum.current().number == 9
