"""Margin actions for programs: recorded once, confirmed by name, by exact figures, and no decision among them."""

import json
import re
import uuid

import pytest

from exchange_ops.market.models import BookSnapshot
from exchange_ops.positions.models import MarginAction
from tests.exchange_ops.positions.test_bounds import position

pytestmark = pytest.mark.django_db
PATH = "/api/v1/margin/actions/"
__all__ = ["position"]  # a fixture: long 1 BCH at 500 with a collateral of 100, under the number 7


def send(client, **members):
    body = {"symbol": "BCHUSD", "request_key": str(uuid.uuid4())} | members
    return client.post(PATH, json.dumps(body), content_type="application/json")


def test_collateral_is_changed_once_for_one_key_and_named_first_where_the_call_comes_near(
    with_token, operator, position
):
    client, key = with_token(operator), "key-of-a-program"
    refused = send(client, action="set", amount="62", request_key=key)
    assert (refused.status_code, MarginAction.objects.count()) == (422, 0)
    (token,) = re.findall(r"call_near:[0-9.]+", refused.json()["errors"]["confirmed"])
    taken = send(client, action="set", amount="62.0", confirmed=[token], request_key=key)
    again = send(client, action="set", amount="62", request_key=key)
    assert (taken.status_code, again.status_code) == (201, 200), taken.json()
    answer = taken.json()
    names = ("action", "amount", "state", "initiated_via", "initiator")
    assert [answer[name] for name in names] == ["set", "62", "requested", "api", "operator"]
    assert [each["name"] for each in answer["oversteps"]] == ["call_near"]
    assert client.get(f"{PATH}{answer['id']}/").json()["oversteps"] == answer["oversteps"]
    assert [row["id"] for row in client.get(PATH).json()["items"]] == [answer["id"]]
    other = send(client, action="set", amount="62", symbol="ETHUSD", request_key=key)
    assert other.status_code == 422
    assert "with different content" in other.json()["detail"]


def test_a_position_is_closed_by_the_number_that_was_seen(with_token, operator, position):
    client = with_token(operator)
    seen = client.get("/api/v1/margin/").json()["items"][0]["position"]["exchange_id"]
    assert seen == "7"
    assert "position_id" in send(client, action="close").json()["errors"]
    assert "a new one is open" in send(client, action="close", position_id="8").json()["detail"]
    taken = send(client, action="reduce", position_id=seen, quantity="0.25", price="498")
    assert taken.status_code == 201, taken.json()
    row = MarginAction.objects.get()
    assert (row.kind, row.side, row.order_type, str(row.price.normalize())) == ("reduce", "sell", "limit", "498")


@pytest.mark.parametrize(
    ("members", "name"),
    [
        ({"action": "open", "amount": "1", "price": "2"}, "price"),
        ({"action": "close_account", "quantity": "1"}, "quantity"),
        ({"action": "set"}, "amount"),
        ({"action": "open", "amount": "1"}, "symbol"),
    ],
)
def test_what_an_action_does_not_take_or_lacks_is_named(with_token, operator, position, members, name):
    refused = send(with_token(operator), **members)
    assert (refused.status_code, MarginAction.objects.count()) == (422, 0)
    assert name in refused.json()["errors"]


def test_a_deep_close_is_confirmed_by_its_token(with_token, operator, position):
    BookSnapshot.objects.update(bid=[["499", "0.5"], ["400", "5"]])
    client = with_token(operator)
    refused = send(client, action="close", position_id="7")
    (token,) = re.findall(r"book_deep:[0-9.]+", refused.json()["errors"]["confirmed"])
    assert send(client, action="close", position_id="7", confirmed=[token]).status_code == 201


@pytest.mark.parametrize("role", ["treasury", "auditor"])
def test_others_read_and_ask_for_nothing(with_token, make_person, position, role):
    client = with_token(make_person(role))
    assert send(client, action="set", amount="90").status_code == 403
    assert client.get(PATH).status_code == 200
