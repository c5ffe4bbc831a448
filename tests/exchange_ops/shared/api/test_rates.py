"""A token that asks too often is refused for a while, by itself, and nothing it sent meanwhile is recorded."""

import json
import uuid

import pytest
from django.core.cache import cache

from desk.people.token_rates import TokenRate
from exchange_ops.withdrawals.models import Withdrawal
from tests.exchange_ops import rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
PATH = "/api/v1/withdrawals/"
DRAFT = {"currency": "BCH", "amount": "1.25", "address": rows.ADDRESS, "reason": "Invoice 2041"}


@pytest.fixture
def seconds(with_token, monkeypatch):
    """A clock of seconds that a test moves; three requests a minute are let through."""
    now = [1_000_000.0]
    monkeypatch.setattr(TokenRate, "THROTTLE_RATES", {"token": "3/min"})
    monkeypatch.setattr(TokenRate, "timer", staticmethod(lambda: now[0]))
    cache.clear()
    return now


def draft(client):
    content = json.dumps(DRAFT | {"request_key": str(uuid.uuid4())})
    return client.post(PATH, content, content_type="application/json")


def test_the_fourth_request_of_a_minute_is_refused_and_records_nothing(seconds, with_token, operator):
    client = with_token(operator)
    monitored = [client.get(PATH).status_code for _ in range(2)]
    assert (monitored, draft(client).status_code) == ([200, 200], 201)
    seconds[0] += 20
    refused = draft(client)
    assert (refused.status_code, refused["Retry-After"]) == (429, "40")
    assert refused["Content-Type"] == "application/problem+json"
    assert refused.json()["detail"] == "Nothing was recorded: too many requests with this token. Try again in 40 s."
    assert Withdrawal.objects.count() == 1
    seconds[0] += 41
    assert draft(client).status_code == 201


def test_tokens_are_counted_apart_and_people_not_at_all(seconds, with_token, signed_in, operator, treasury):
    busy, calm, page = with_token(operator), with_token(operator), signed_in(treasury)
    assert [busy.get(PATH).status_code for _ in range(4)] == [200, 200, 200, 429]
    assert calm.get(PATH).status_code == 200
    assert [page.get(PATH).status_code for _ in range(5)] == [200] * 5
