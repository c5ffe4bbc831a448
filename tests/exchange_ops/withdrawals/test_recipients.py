"""What is known of a recipient: one briefing, the same on the form, the decision page, the list and in messages."""

from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.addresses.models import DepositAddress
from exchange_ops.market.models import Currency
from exchange_ops.policy import freezes
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals import machine
from exchange_ops.withdrawals.recipients import briefing
from exchange_ops.withdrawals.room import waiting
from tests.exchange_ops import rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
ETHEREUM = "0x52908400098527886E0F7030069857D2E4169EE7"
CASH, LEGACY = "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78", "mrLC19Je2BuWQDkWSTriGYPyQJXKkkBmCx"
# As a legacy address it is mrLC19JdWn1ukSorBmcHvzC3Nio62tXmCx, which has the first and last characters of LEGACY.
LEGACY_POISON_AS_CASH = "bchreg:qpm2qsznh5qqqqqqqqqqqqqqqqqqqzuxevkc5q7am4"
POISON = "bchreg:qzd59rs85qgs83hxjvz7w5cq9k4h6zftys97r74nqg"  # the first and last characters of rows.ADDRESS


def of(row):
    return briefing.of_rows([row], now=clock.now())[row.pk]


def paid(operator, treasury, **changes):
    row = rows.held(operator, now=clock.now(), **changes)
    decision = {"decision": "commit", "decided_by": treasury, "decided_at": clock.now()}
    machine.move(row, event="quorum_reached", to="committing", now=clock.now(), actor=treasury, **decision)
    machine.move(row, event="commit_claimed", to="committing", now=clock.now(), put_count=1)
    return machine.move(row, event="commit_confirmed", to="committed", now=clock.now())


def test_paid_pending_and_unpaid_are_told_apart_and_a_payment_id_makes_another_recipient(operator, treasury):
    rows.currency("XRP", now=clock.now(), payout_is_payment_id=True)
    here = {"currency": "XRP", "address": "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh", "payment_id": "7"}
    row = rows.held(operator, now=clock.now(), **here)
    assert (of(row).is_first, of(row).history.pending) == (True, 0), "this one is no history of its own"
    rows.ended(operator, now=clock.now(), **here)
    rows.held(operator, now=clock.now(), **here)
    assert of(row).is_first
    assert (of(row).history.pending, of(row).history.unpaid) == (1, 1)
    paid(operator, treasury, **(here | {"payment_id": "8"}))
    assert (of(row).is_first, of(row).history.other_payment_ids) == (True, 1)
    paid(operator, treasury, **here)
    rows.entry(1, type="payout", status="created", **here)
    rows.entry(2, type="payout", status="success", now=clock.now(), **here)
    past = of(row).history
    assert (past.paid, past.pending, past.unpaid, past.other_payment_ids) == (2, 2, 1, 1)
    assert past.last_paid_at > clock.now() - timedelta(minutes=1)


def test_what_was_paid_elsewhere_counts_however_the_exchange_spells_the_address(operator):
    row = rows.held(operator, now=clock.now())
    rows.entry(1, type="payout", status="success", address=rows.ADDRESS.partition(":")[2])
    assert of(row).history.paid == 1


def test_equal_payouts_are_those_to_the_same_payment_id(operator):
    rows.currency("XRP", now=clock.now(), payout_is_payment_id=True)
    here = {"currency": "XRP", "address": "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"}
    row, other, same = (rows.held(operator, now=clock.now(), payment_id=each, **here) for each in ("7", "8", "7"))
    assert [each.pk for each in of(row).equal] == [same.pk]
    assert of(other).equal == ()


def test_own_addresses_and_the_state_of_the_coin_are_named(operator):
    row, now = rows.held(operator, now=clock.now()), clock.now()
    assert (of(row).own, of(row).coin, of(row).fee_now) == ("", "", None)
    second = Account.objects.create(name="Second desk")
    DepositAddress.objects.create(account=second, currency="BCH", address=rows.ADDRESS, first_seen_at=now, seen_at=now)
    assert of(row).own == briefing.OURS, "the other account is not named"
    Currency.objects.filter(pk="BCH").update(payout_enabled=False, payout_fee=Decimal("0.002"))
    assert "suspended BCH payouts" in of(row).coin
    assert of(row).fee_now == Decimal("0.002")


def test_a_look_alike_is_warned_of_on_form_decision_page_card_list_and_message(
    signed_in, operator, treasury, make_person
):
    paid(operator, treasury)
    typed = {"currency": "BCH", "amount": "1", "address": POISON, "payment_id": "", "fee_from": "on_top"}
    form = signed_in(operator).post("/withdrawals/new/destination/", typed).content.decode()
    row = rows.held(operator, now=clock.now(), address=POISON)
    client = signed_in(treasury)
    page, card = client.get(f"/withdrawals/{row.pk}/").content.decode(), client.get("/approvals/").content.decode()
    for name, text in (("form", form), ("page", page), ("card", card)):
        assert "resembles a known address but" in text, name
        assert f"><bdi>{POISON[12:16]}" in text, name
    for name, text in (("form", form), ("page", page)):
        assert "First payout" in text, name
    listed = client.get("/withdrawals/").content.decode()
    assert "Look-alike" in listed
    entry = next(each for each in waiting.undecided(treasury, clock.now()) if each.row.pk == row.pk)
    assert "resembles a known address but is not the same. First payout to this recipient." in entry.sentence
    assert "Look-alike" not in client.get("/withdrawals/?state=committed").content.decode()


@pytest.mark.parametrize(
    ("currency", "address", "spelled"),
    [
        ("BCH", rows.ADDRESS, rows.ADDRESS.partition(":")[2]),
        ("BCH", CASH, LEGACY),
        ("BCH", CASH, CASH),
        ("ETH", ETHEREUM, ETHEREUM),
        ("ETH", ETHEREUM, ETHEREUM.lower()),
        ("USDT20", ETHEREUM, ETHEREUM.lower()),
    ],
)
def test_an_own_address_is_recognised_however_the_exchange_spells_it(operator, currency, address, spelled):
    rows.currency(currency, now=clock.now())
    row, now = rows.requested(operator, now=clock.now(), currency=currency, address=address), clock.now()
    whose = {"account": row.account, "currency": currency, "address": spelled}
    DepositAddress.objects.create(first_seen_at=now, seen_at=now, **whose)
    assert (of(row).own, of(row).lookalike) == ("the deposit address of this account", None)


def known_by_payout(operator, treasury):
    paid(operator, treasury, address=CASH)


def known_by_ledger(operator, treasury):
    rows.entry(1, type="payout", status="success", address=LEGACY)


def known_by_deposit(operator, treasury):
    now, account = clock.now(), rows.account(now=clock.now())
    DepositAddress.objects.create(account=account, currency="BCH", address=LEGACY, first_seen_at=now, seen_at=now)


def known_in_a_frozen_account(operator, treasury):
    paid(operator, treasury, address=CASH)
    freezes.freeze(account=rows.account(now=clock.now()), person=treasury, reason="Look at this", now=clock.now())


def not_known(operator, treasury):
    """Released and rejected payouts make no address a known one, nor do those of another account."""
    rows.ended(operator, now=clock.now(), address=CASH)
    second, now = Account.objects.create(name="Second desk"), clock.now()
    DepositAddress.objects.create(account=second, currency="BCH", address=LEGACY, first_seen_at=now, seen_at=now)


@pytest.mark.parametrize(
    ("known_by", "model"),
    [
        (known_by_payout, LEGACY),
        (known_by_ledger, LEGACY),
        (known_by_deposit, LEGACY),
        (known_in_a_frozen_account, LEGACY),
        (not_known, None),
    ],
)
def test_a_legacy_address_that_looks_like_a_known_one_is_warned_of(operator, treasury, known_by, model):
    row = rows.requested(operator, now=clock.now(), address=LEGACY_POISON_AS_CASH)
    known_by(operator, treasury)
    alike = of(row).lookalike
    assert (alike.address if alike else None) == model
    assert of(row).is_first


def test_an_address_that_nobody_holds_is_named_on_page_card_and_in_the_message(signed_in, operator, treasury):
    rows.currency("ETH", now=clock.now())
    row = rows.held(operator, now=clock.now(), currency="ETH", address="0x000000000000000000000000000000000000dEaD")
    for path in (f"/withdrawals/{row.pk}/", "/action/"):
        assert "Burn address: nobody holds its key" in signed_in(treasury).get(path).content.decode(), path
    assert "Burn address" in of(row).short


def test_a_first_payment_is_marked_on_card_and_list_until_one_was_paid(signed_in, operator, treasury):
    rows.held(operator, now=clock.now())
    client, marks = signed_in(treasury), {"/action/": "First payout to this recipient", "/withdrawals/": "First payout"}
    for path, mark in marks.items():
        assert mark in client.get(path).content.decode(), path
    rows.entry(1, type="payout", status="success", address=rows.ADDRESS)
    for path, mark in marks.items():
        assert mark not in client.get(path).content.decode(), path


def test_a_coin_that_is_not_paid_out_now_opens_the_way_to_reject(signed_in, operator, treasury):
    row = rows.held(operator, now=clock.now())
    Currency.objects.filter(pk="BCH").update(payout_enabled=False)
    page = signed_in(treasury).get(f"/withdrawals/{row.pk}/").content.decode()
    assert "You can reject this payout below." in page
    assert '<details class="in reason-form" open>' in page
