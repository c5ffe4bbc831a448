"""What the page of a withdrawal says about the chain, money first, and how it follows a reorganisation."""

import html
import re
from datetime import timedelta
from decimal import Decimal

import pytest
from playwright.sync_api import expect

from exchange_ops.withdrawals import machine
from exchange_ops.withdrawals.models import PayoutProof
from tests.exchange_ops import rows
from tests.exchange_ops.withdrawals.proofs.proving import beside_a_chain, supplier


@pytest.fixture
def desk(operator, settings):
    with beside_a_chain(rows.account(), operator, settings) as made:
        yield made


def panel(client, row):
    """The words of the chain's panel, without its steps; empty when there is none."""
    page = client.get(f"/withdrawals/{row.pk}/").content.decode()
    found = re.search(r'<section class="panel" id="proof".*?</section>', page, re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", found[0])).split()) if found else ""


@pytest.mark.django_db
class TestWords:
    def test_a_payment_in_the_chain_s_coin_tells_where_it_stands(self, desk, signed_in, treasury, settings):
        client = signed_in(treasury)
        row = desk.paid(blocks=0)
        assert "Searching the chain" in panel(client, row)
        desk.sweep()
        assert "Unconfirmed Broadcast, not in a block yet" in panel(client, row)
        settings.PAYOUT_PROOF_DEPTH = 3
        desk.mine()
        assert "newer block available, recheck pending" in panel(client, row)
        desk.sweep()
        words = panel(client, row)
        assert "In a block The address received the exact amount (1 confirmation)." in words
        assert "It counts as proven after 3 confirmations." in words
        assert "newer block" not in words
        desk.mine(2)
        desk.sweep()
        words = panel(client, row)
        assert "Proven The address received the exact amount (3 confirmations)" in words
        assert "pays exactly 1.25000000 to the address." in words, "each step is told"
        assert desk.proof(row).block_hash in words
        desk.mine(7)
        desk.sweep()
        assert "(10 confirmations), and Countersign verified the proof. Final:" in panel(client, row)
        page = client.get(f"/withdrawals/{row.pk}/").content.decode()
        assert f'href="/chain/tx/{row.hash}/"' in page
        assert "Paid, and verified on-chain" in page

    def test_the_exchange_s_count_does_not_stand_beside_the_desk_s_own(self, desk, signed_in, treasury):
        client, row = signed_in(treasury), desk.proven()
        machine.touch(row, confirmations=2)
        desk.reorganise(4)
        desk.sweep()
        page = client.get(f"/withdrawals/{row.pk}/").content.decode()
        assert "No longer on-chain" in page
        assert "2 confirmations" not in page
        PayoutProof.objects.filter(withdrawal=row).delete()
        assert "2 confirmations, reported by the exchange" in client.get(f"/withdrawals/{row.pk}/").content.decode()

    def test_a_dispute_says_whether_the_machine_can_end_it(self, desk, signed_in, treasury):
        client = signed_in(treasury)
        lost, wrong = desk.proven(), desk.paid(pays="1.24")
        desk.reorganise(4)
        desk.sweep()
        words = panel(client, lost)
        assert (
            "No longer on-chain The payment is unconfirmed again: its block was removed by a chain reorganisation."
            in words
        )
        assert "the dispute is resolved automatically" in words
        words = panel(client, wrong)
        assert (
            "Payment differs The on-chain payment differs from the request. The transaction pays the address 1.24000000"
            in words
        )
        assert "resolved automatically" not in words

    def test_what_nobody_knows_and_what_does_not_hold_is_told_as_such(self, desk, signed_in, treasury):
        client = signed_in(treasury)
        row = desk.paid(txid="ab" * 32, blocks=0)
        desk.sweep()
        assert "Not on-chain No on-chain transaction yet." in panel(client, row)
        PayoutProof.objects.update(standing="not_proven", sentence="The service's proof does not hold.")
        assert "Not proven The payment is not proven on-chain." in panel(client, row)

    def test_a_service_that_is_away_is_told_beside_what_was_known(self, desk, signed_in, treasury, settings):
        row = desk.proven()
        settings.CHAINDATA_URL = "http://127.0.0.1:9"
        desk.ahead += timedelta(minutes=5)
        desk.sweep()
        words = panel(signed_in(treasury), row)
        assert "Proven The address received the exact amount" in words
        assert "The chain service is not available" in words

    def test_other_currencies_are_not_verifiable_by_us(self, desk, signed_in, treasury):
        row = desk.row("settled", hash="ab" * 32, currency="BTC", amount=Decimal(1), address=supplier())
        words = panel(signed_in(treasury), row)
        assert words == (
            "On-chain Not verifiable on-chain On-chain verification is available for BCH only; "
            "only the exchange's report is available."
        )
        assert f"/chain/tx/{row.hash}/" not in signed_in(treasury).get(f"/withdrawals/{row.pk}/").content.decode()

    def test_nothing_is_said_before_the_exchange_was_told_to_pay(self, desk, signed_in, treasury):
        held = desk.row("held", hash="", currency="BCH", amount=Decimal(1), address=supplier())
        assert panel(signed_in(treasury), held) == ""
        committed = desk.row("committed", hash="", currency="BCH", amount=Decimal(1), address=supplier())
        assert "The exchange has not returned a transaction hash" in panel(signed_in(treasury), committed)

    def test_a_hash_that_is_none_breaks_no_page(self, desk, signed_in, treasury):
        row = desk.row("settled", hash="<b>no hash", currency="BCH", amount=Decimal(1), address=supplier())
        desk.sweep()
        page = signed_in(treasury).get(f"/withdrawals/{row.pk}/").content.decode()
        assert "&lt;b&gt;no hash" in page
        assert "<b>no hash" not in page


@pytest.mark.browser
@pytest.mark.thorough("what the page says of each state is proven above; a change that arrives runs always elsewhere")
@pytest.mark.django_db(transaction=True)
def test_a_reorganisation_turns_a_proven_payout_into_a_disputed_one_and_back_live(desk, open_as, treasury):
    row = desk.proven()
    page = open_as(treasury, f"/withdrawals/{row.pk}/")
    state, proof = page.locator("#facts .head .chip"), page.locator("#proof")
    expect(state).to_have_text("Paid and proven")
    expect(proof).to_contain_text("(2 confirmations), and Countersign verified the proof")
    page.evaluate("window.sameDocument = true")
    desk.reorganise(2)
    desk.sweep()
    expect(state).to_have_text("Paid, but the records disagree")
    expect(proof).to_contain_text("its block was removed by a chain reorganisation")
    expect(page.locator("#decide")).to_contain_text("Two treasurers must submit the same finding")
    desk.mine(2)
    desk.sweep()
    expect(state).to_have_text("Paid and proven")
    expect(proof).to_contain_text("(2 confirmations)")
    expect(page.locator("#decide")).not_to_contain_text("finding")
    assert page.evaluate("window.sameDocument") is True
