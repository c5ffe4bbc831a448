"""A transfer that ended unsent or refused is requested again with its content, and nothing else is."""

from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.transfers import machine, rules, states
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def movable(payable):
    now = clock.now()
    rows.currency(now=now, transfer_enabled=True, precision_transfer=8)


@pytest.mark.parametrize(
    ("slug", "target"),
    [
        ("move", {"kind": "trading_to_bank"}),
        ("to-user", {"kind": "to_user", "by": "username", "identifier": "other"}),
    ],
)
def test_the_form_is_filled_with_the_ended_transfer(signed_in, operator, treasury, slug, target):
    row = rows.transfer(operator, **target, now=clock.now())
    machine.move(row, event="cancelled", to=states.CANCELLED, now=clock.now(), actor=operator)
    browser, link = signed_in(operator), f"/transfers/new/{slug}/?again={row.pk}"
    assert link in browser.get(f"/transfers/{row.pk}/").content.decode()
    assert link not in signed_in(treasury).get(f"/transfers/{row.pk}/").content.decode(), "only operators request"
    page = browser.get(link)
    initial = page.context["form"].initial
    content = {"currency": "BCH", "amount": "2.5", "reason": row.reason, **target}
    assert {name: initial[name] for name in content} == content
    assert initial["request_key"] != row.request_key
    assert f'value="{initial["amount"]}"' in page.content.decode()


def test_what_may_have_moved_or_replaces_another_is_not_repeated(signed_in, operator):
    now, browser = clock.now(), signed_in(operator)
    unseen = rows.transfer_sent(operator, to="not_seen", now=now, amount=Decimal("0.7"))
    other_kind = rows.transfer(operator, now=now)
    machine.move(other_kind, event="cancelled", to=states.CANCELLED, now=now, actor=operator)
    for slug, row in (("move", unseen), ("to-user", other_kind)):
        assert "amount" not in browser.get(f"/transfers/new/{slug}/", {"again": row.pk}).context["form"].initial
    assert rules.may_repeat(operator, other_kind)
    other_kind.reissues_id = unseen.pk
    assert not rules.may_repeat(operator, other_kind), "the older one may still appear"
