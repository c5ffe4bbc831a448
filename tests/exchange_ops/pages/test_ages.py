"""Ages run: each that a page draws is a moment that the page's script counts on."""

import re

import pytest

from desk import clock
from exchange_ops.orders.models import Order
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows

pytestmark = pytest.mark.django_db
AGE = re.compile(r"(<time [^>]*data-age[^>]*>)?(\d+ (?:s|min|h|d) ago|never)\b")


@pytest.fixture
def pages(operator, treasury, payable):
    """Pages of money that show ages, each with rows behind it."""
    now = clock.now()
    order_rows.market(now=now)
    rows.currency(now=now, transfer_enabled=True, precision_transfer=8, payin_enabled=True)
    held, ended = rows.held(operator, now=now), rows.ended(operator, now=now)
    moved, order = rows.transfer_sent(operator, now=now, to="done"), order_rows.placed(operator, now=now)
    Order.objects.filter(pk=order.pk).update(exchange_created_at=now, exchange_updated_at=now)
    rows.subaccount(now=now)
    return [
        *(f"/withdrawals/{held.pk}/", f"/withdrawals/{ended.pk}/", "/approvals/?list=done", "/funds/"),
        *(f"/transfers/{moved.pk}/", f"/orders/{order.pk}/", "/funds/BCH/deposit/", "/subaccounts/7001/"),
        "/orders/new/",
    ]


def test_every_age_of_a_page_about_money_runs(signed_in, make_person, pages):
    client, count = signed_in(make_person("operator", "treasury", "auditor", "trader", username="everything")), 0
    for path in pages:
        response = client.get(path)
        assert response.status_code == 200, path
        page = re.sub(r"<title>.*?</title>|<(td|span)[^>]*>never</\1>", "", response.content.decode())
        still = [found[0] for found in AGE.finditer(page) if not found[1] and "ago" in found[2]]
        assert not still, path
        count += len(AGE.findall(page))
    assert count >= len(pages)


@pytest.mark.thorough("that each age is one which counts on is proven by the views")
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_age_on_a_withdrawal_counts_on(open_as, operator, payable):
    row = rows.ended(operator, now=clock.now())
    page = open_as(operator, f"/withdrawals/{row.pk}/", before=lambda page: page.clock.install())
    page.clock.fast_forward("05:00")
    page.wait_for_function(
        "() => [...document.querySelectorAll('#facts time[data-age]')].some(e => e.textContent === '5 min ago')"
    )
