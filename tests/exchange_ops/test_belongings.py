"""What on the desk an address or a transaction belongs to, and that nobody is shown what is of another account."""

from decimal import Decimal

import pytest

from chaindata.shared import belongings
from desk import clock
from exchange_ops.addresses.models import DepositAddress
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals.models import Withdrawal
from tests.chaindata.views import rows as chain
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db
TXID, ADDRESS = "ab" * 32, chain.OURS.cash_address


@pytest.fixture
def of(auditor):
    def of(person=auditor):
        found = belongings.collect(
            person=person, addresses=[ADDRESS, chain.THEIRS.cash_address], txids=[TXID, "cd" * 32]
        )
        return {key: [(each.words, each.url) for each in pages] for key, pages in found.items()}

    return of


@pytest.fixture
def everything(operator):
    payout = rows.held(operator, now=clock.now(), address=chain.OURS.legacy_address)
    Withdrawal.objects.filter(pk=payout.pk).update(hash=TXID.upper())
    rows.entry(7, hash=TXID, amount=Decimal("0.25"), address=ADDRESS)
    rows.entry(8, type="payout", status="success", address=ADDRESS)
    rows.entry(9, type="payout", status="failed", address=ADDRESS)
    rows.entry(10, type="payout", status="created", address=ADDRESS)
    columns = {"currency": "BCH", "address": ADDRESS.partition(":")[2], "seen_at": clock.now()}
    names = {field.name for field in DepositAddress._meta.fields}
    columns |= {name: clock.now() for name in ("first_seen_at", "read_at") if name in names}
    DepositAddress.objects.create(account=payout.account, **{k: v for k, v in columns.items() if k in names})
    return payout


def test_what_belongs_to_nothing_is_not_there(of):
    assert of() == {}


def test_payouts_deposits_destinations_and_deposit_addresses_in_any_form(of, everything):
    found = of()
    assert found[TXID] == [
        (f"payout {everything.reference}, 1.2500 BCH", f"/withdrawals/{everything.pk}/"),
        ("deposit of 0.2500 BCH to Main desk", f"/deposits/?text={TXID}"),
    ]
    assert [words for words, _ in found[ADDRESS]] == [
        "1 payout from Countersign (1 pending)",
        "destination, paid 1 time, 1 payout reserved, 1 payout released or failed",
        "1 deposit",
        "deposit address of Main desk",
    ]
    assert set(found) == {TXID, ADDRESS}


def test_nobody_is_shown_what_is_of_another_account(of, everything, make_person):
    other = Account.objects.create(name="Second desk")
    limited = make_person("auditor", username="limited", limits=f" auditor:{other.pk} ")
    assert of(limited) == {}


def test_each_link_opens(of, everything, auditor, signed_in):
    client = signed_in(auditor)
    for pages in of().values():
        for words, url in pages:
            assert client.get(url).status_code == 200, words
