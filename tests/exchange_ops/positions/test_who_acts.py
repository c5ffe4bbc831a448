"""Every action on margin with a real account and position behind it: by whom it is recorded, and by whom it is not."""

import re

import pytest

from desk import clock
from desk.models import Person
from desk.people import roles
from exchange_ops.margin.models import MarginAccount, MarginPosition
from exchange_ops.market.models import BookSnapshot, Symbol
from exchange_ops.positions.models import MarginAction
from exchange_ops.shared.models import Account
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows

pytestmark = pytest.mark.django_db
EFFECT = re.compile(r'<div data-effect="([^"]*)">')
OTHERS = (roles.TREASURY, roles.ADMIN, roles.AUDITOR, "")


@pytest.fixture
def position():
    """A symbol with margin, a book, money, a margin account and its long position."""
    now = clock.now()
    order_rows.market(now=now)
    Symbol.objects.update(margin_trading=True, max_initial_leverage=10)
    book = {"bid": [["499", "5"]], "ask": [["501", "5"]]}
    BookSnapshot.objects.create(symbol="BCHUSD", timestamp=now, read_at=now, **book)
    return rows.margin_position(now=now)


def nothing_is_open():
    MarginPosition.objects.all().delete()
    MarginAccount.objects.all().delete()


def the_account_alone():
    MarginPosition.objects.all().delete()


# Each action: where it is posted, which figures say its effect, and the fields beside the request's key.
ACTIONS = {
    "open": ("/margin/open/", "collateral", {"symbol": "BCHUSD", "amount": "250"}, nothing_is_open),
    "set": ("/margin/BCHUSD/collateral/", "collateral", {"symbol": "BCHUSD", "amount": "250"}, lambda: None),
    "close": (
        "/margin/BCHUSD/close-position/",
        "close-position",
        {"how_much": "whole", "order_type": "market", "position_id": "7"},
        lambda: None,
    ),
    "reduce": (
        "/margin/BCHUSD/close-position/",
        "close-position",
        {"how_much": "part", "quantity": "0.5", "order_type": "market", "position_id": "7"},
        lambda: None,
    ),
    "close_account": ("/margin/BCHUSD/close-account/", "close-account", {"position_id": ""}, the_account_alone),
    "close all": ("/margin/close-all/", "", {}, lambda: None),
}


def form(key, fields, **more):
    return {"request_key": f"8d9f6c1e-9d0a-4d6e-8a33-{key:012d}", "code": "BCHUSD", **fields, **more}


@pytest.mark.parametrize("action", ACTIONS)
def test_operators_act_on_margin_and_nobody_else(signed_in, operator, make_person, position, action):
    path, figures, fields, situation = ACTIONS[action]
    situation()
    client = signed_in(operator)
    page = client.post(f"/margin/figures/{figures}/", form(1, fields)) if figures else client.get(path)
    seen = EFFECT.search(page.content.decode())
    field = re.search(r'name="positions" value="([^"]*)"', page.content.decode())
    confirmed = {"effect": seen[1]} if seen else {}
    confirmed |= {"positions": field[1]} if field else {}
    assert confirmed, page.content.decode()[:300]
    others = [make_person(*filter(None, [role]), username=f"the {role or 'newcomer'}") for role in OTHERS]
    second = Account.objects.create(name="Second desk", quote_currency="USD")
    others.append(make_person("operator", username="elsewhere", limits=f" operator:{second.pk} "))
    here = f"/accounts/{position.account_id}{path}"
    for number, person in enumerate(others, 2):
        for place in (path, here):
            answer = signed_in(Person.objects.get(pk=person.pk)).post(place, form(number, fields, **confirmed))
            is_elsewhere = person.limits and place == path  # then it is a form about the other account
            assert answer.status_code in {403, 404} or is_elsewhere, (person.username, answer.status_code)
            assert not MarginAction.objects.filter(account=position.account_id).exists(), (person.username, place)
    done = client.post(here, form(1, fields, **confirmed))
    assert done.status_code == 302, done.content.decode()
    assert MarginAction.objects.filter(account=position.account_id, initiator=operator).count() == 1
