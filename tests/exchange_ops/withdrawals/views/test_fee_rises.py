"""The highest fee on card and page, and both figures where the fee rose above it."""

import re
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.market.models import Currency
from exchange_ops.withdrawals import machine
from exchange_ops.withdrawals.steps import reapproval
from tests.exchange_ops import rows
from tests.exchange_ops.withdrawals.steps.test_fee_moves import held, record_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]


def text_at(client, path):
    return " ".join(re.sub(r"<[^>]+>", " ", client.get(path).content.decode()).split())


def test_card_and_page_show_the_highest_fee_and_what_it_rose_from(signed_in, treasury, operator):
    row, client = held(operator, estimate="0.001"), signed_in(treasury)
    machine.move(row, event="echo_agrees", to="held", now=clock.now(), echo=rows.ECHO, echo_ok=True)
    card, page = text_at(client, "/action/"), text_at(client, f"/withdrawals/{row.pk}/")
    assert "≈ 0.0010 BCH" in card
    assert "maximum 0.0110 BCH" in card
    assert "maximum fee 0.0110 BCH total at most 1.2610 BCH" in page
    assert "Fee increase" not in card + page
    reapproval.for_fee(row, record_of(row, amount="1.25", fee="0.02"), now=clock.now())
    card, page = text_at(client, "/action/"), text_at(client, f"/withdrawals/{row.pk}/")
    assert "maximum 0.0300 BCH" in card
    assert "Fee increase Approved maximum 0.0110 BCH, now 0.0200 BCH" in card
    assert "Fee increase: approved maximum 0.0110 BCH, now 0.0200 BCH. Earlier approvals no longer count." in page
    assert "Network fee rose: approval needed again" in page


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"payout_fee": Decimal("0.002")}, "The network fee has risen: the exchange now charges 0.0020 BCH"),
        ({"delisted": True}, "BCH is delisted"),
    ],
)
def test_a_coin_that_changed_at_the_exchange_is_named_with_the_choice_to_reject(
    signed_in, treasury, operator, changes, words
):
    row, client = rows.held(operator, now=clock.now()), signed_in(treasury)
    assert words not in text_at(client, "/action/") + text_at(client, f"/withdrawals/{row.pk}/")
    Currency.objects.filter(pk="BCH").update(**changes)
    page = text_at(client, f"/withdrawals/{row.pk}/")
    assert words in page
    assert "You can reject this payout below." in page
    assert "Reject and release funds" in page
    assert words in text_at(client, "/action/")
