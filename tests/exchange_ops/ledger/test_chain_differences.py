"""A deposit is compared with its transaction: what differs, what is only slower, and how long a difference stays."""

from datetime import timedelta
from decimal import Decimal

import pytest

from chaindata.cache.models import ChainAnswer
from desk import clock
from desk.incidents import closings, decisions, review
from desk.incidents.models import Incident
from desk.people import totp
from exchange_ops.ledger import chain_differences
from exchange_ops.shared import alarms
from tests.chaindata.views import rows as chain
from tests.desk.staff import keeping
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db
NOW = rows.NOW + timedelta(hours=1)
TXID = chain.h(1, "f")
CREDITED = {"hash": TXID, "address": chain.OURS.cash_address, "amount": Decimal(1)}


@pytest.fixture(autouse=True)
def _chain(settings):
    settings.CHAIN_NETWORKS = ("test", "regtest")
    chain.tip(20, at=NOW)
    rows.currency(now=rows.NOW, payin_confirmations=2)


def answered(**changes):
    chain.answered("get_transaction_details", chain.details(TXID, **changes), at=NOW, txid=TXID)


def differences(now=NOW):
    review.review_now(alarms.DEPOSIT_DIFFERS, now=now)
    return [row.sentence for row in Incident.objects.filter(kind=alarms.DEPOSIT_DIFFERS, state="open")]


def test_what_agrees_is_no_incident():
    rows.entry(1, **CREDITED)
    answered(height=19)
    assert differences() == []


def test_what_nobody_has_read_yet_says_nothing():
    rows.entry(1, **CREDITED)
    assert differences() == []
    assert chain_differences.refresh(now=NOW) == 1
    assert ChainAnswer.objects.get().operation == "get_transaction_details"
    assert differences() == []


@pytest.mark.parametrize("status", ["success", "pending"])
def test_a_deposit_whose_transaction_the_chain_does_not_have(status, auditor, signed_in):
    rows.entry(1, status=status, **CREDITED)
    chain.turned_down("get_transaction_details", "missing", at=NOW, problem="No such transaction.", txid=TXID)
    word = {"success": "credited", "pending": "expects"}[status]
    assert differences() == [
        f"The exchange {word} 1.0000 BCH, but transaction {TXID[:12]} is not on-chain. "
        "Contact the exchange before using the funds."
    ]
    row = Incident.objects.get()
    assert row.url == f"/deposits/?text={chain.OURS.cash_address[-26:]}"
    assert signed_in(auditor).get(row.url).content.decode().count(TXID) >= 1
    assert row.scope == str(rows.account(now=NOW).pk)


@pytest.mark.parametrize("address", ["", "a b", "x" * 256, "name\u00e9", "q?&#"])
def test_an_odd_address_leads_to_all_deposits_or_to_its_own_and_fits(address):
    rows.entry(1, **CREDITED | {"address": address})
    answered(height=None)
    assert differences()
    row = Incident.objects.get()
    assert row.url.startswith("/deposits/")
    assert len(row.page) <= 40


def test_a_deposit_that_was_only_just_announced_is_waited_for():
    rows.entry(1, status="pending", first_seen_at=NOW - timedelta(minutes=9), **CREDITED)
    chain.turned_down("get_transaction_details", "missing", at=NOW, problem="No such transaction.", txid=TXID)
    assert differences() == []
    assert len(differences(NOW + timedelta(minutes=2))) == 1


def test_a_credited_deposit_whose_block_was_taken_away():
    rows.entry(1, **CREDITED)
    answered(height=None)
    assert "is not in a block" in differences()[0]


def test_a_credit_of_this_moment_is_not_compared_with_an_older_answer():
    rows.entry(1, **CREDITED | {"updated_at": NOW - timedelta(seconds=30)})
    answered(height=None)
    assert differences() == []


@pytest.mark.parametrize(("height", "found"), [(14, 0), (13, 1)])
def test_a_deposit_that_is_deep_and_not_credited(height, found):
    rows.entry(1, status="pending", **CREDITED)
    answered(height=height)
    assert len(differences()) == found, "two confirmations are wanted, and six more are waited for"


def test_a_deposit_that_failed_at_the_exchange_and_is_in_a_block():
    rows.entry(1, status="failed", **CREDITED)
    answered(height=19)
    assert "as failed, although its transaction is in a block" in differences()[0]


@pytest.mark.parametrize("status", ["success"])
def test_another_amount_than_the_transaction_pays(status):
    rows.entry(1, status=status, **CREDITED | {"amount": Decimal("1.5")})
    answered(height=19)
    assert "credited 1.5000 BCH" in differences()[0]
    assert "pays 1.0000 BCH" in differences()[0]


def test_two_deposits_of_one_transaction_are_its_amount_together():
    for number, amount in ((1, "0.75"), (2, "0.25")):
        rows.entry(number, **CREDITED | {"amount": Decimal(amount)})
    answered(height=19)
    assert differences() == []


def test_other_coins_and_odd_hashes_are_not_looked_for():
    rows.entry(1, **CREDITED | {"currency": "BTC"})
    rows.entry(2, **CREDITED | {"hash": "offchain-7"})
    assert chain_differences.refresh(now=NOW) == 0


def test_a_difference_stays_however_old_and_ends_when_both_agree(operator):
    rows.entry(1, **CREDITED)
    answered(height=None)
    assert len(differences()) == 1
    later = NOW + timedelta(days=30)
    chain.tip(20, at=later)
    assert len(differences(later)) == 1
    assert chain_differences.refresh(now=later) == 1
    answered(height=19)
    assert differences(later) == []
    assert Incident.objects.get().gone_at == later


def test_two_people_close_it_with_a_reason_and_it_is_not_opened_again(operator, treasury):
    rows.entry(1, **CREDITED)
    answered(height=None)
    differences()
    row = Incident.objects.get()
    words = {"reason": "Asked: mined again.", "digest": closings.digest_of(row), "session_key": "s", "now": clock.now()}
    for person, state in ((operator, "open"), (treasury, "resolved")):
        totp.enrol(person, keeping.SECRET)
        assert decisions.close(incident_id=row.pk, person=person, answer=keeping.answer_at(0), **words).state == state
    assert differences() == []
    assert Incident.objects.count() == 1
