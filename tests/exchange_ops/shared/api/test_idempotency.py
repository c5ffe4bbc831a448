"""A program's request that is sent again: one draft, one answer, and a sentence for what can't be either."""

import json
import threading
import uuid
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.db import connections, transaction

from desk import clock
from desk.models import Person
from desk.rows import retention
from desk.web import idempotency
from desk.web.models import KeyedRequest
from exchange_ops.shared.models import Account
from exchange_ops.transfers.models import Transfer
from exchange_ops.withdrawals.models import Withdrawal
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows

PATH = "/api/v1/withdrawals/"
DRAFT = {"currency": "BCH", "amount": "1.25", "address": rows.ADDRESS, "reason": "Invoice 2041"}
KEY = "8e03978e-40d5-43dd-bc93-6894a57f9324"


def send(client, content=None, *, key=KEY, path=PATH):
    headers = {} if key is None else {"HTTP_IDEMPOTENCY_KEY": key}
    text = content if isinstance(content, str) else json.dumps(DRAFT if content is None else content)
    return client.post(path, text, content_type="application/json", **headers)


@pytest.mark.django_db
@pytest.mark.usefixtures("payable")
class TestOneRequest:
    def test_sent_again_it_gives_the_first_answer_marked(self, with_token, operator):
        client = with_token(operator)
        first = send(client)
        Withdrawal.objects.update(last_problem="It moved on meanwhile.")
        second = send(client)
        assert (first.status_code, second.status_code) == (201, 201)
        assert second.content == first.content
        assert (first.get("Idempotency-Replayed"), second["Idempotency-Replayed"]) == (None, "true")
        assert Withdrawal.objects.get().request_key == KEY

    def test_every_token_of_the_person_has_the_same_keys_and_nobody_else(self, with_token, operator, make_person):
        first, second = send(with_token(operator)), send(with_token(operator))
        assert second.json()["id"] == first.json()["id"]
        other = send(with_token(make_person("operator", username="other")))
        assert other.status_code == 201
        assert other.json()["id"] != first.json()["id"]

    def test_quotes_blanks_and_the_order_of_members_make_no_difference(self, with_token, operator):
        client = with_token(operator)
        send(client)
        again = send(client, json.dumps(dict(reversed(DRAFT.items())), indent=3), key=f'"{KEY}"')
        assert (again.status_code, again["Idempotency-Replayed"]) == (201, "true")

    @pytest.mark.parametrize("changes", [{"amount": "1.26"}, {"include_fee": False}, {"request_key": "another-key"}])
    def test_another_body_under_the_key_is_refused(self, with_token, operator, changes):
        client = with_token(operator)
        send(client)
        refused = send(client, DRAFT | changes)
        assert refused.status_code == 422
        assert refused["Content-Type"] == "application/problem+json"
        assert refused.json()["detail"] == (
            "Nothing was recorded. This Idempotency-Key has already been used for a different request. Use a new one."
        )
        assert list(refused.json()["errors"]) == ["Idempotency-Key"]
        assert Withdrawal.objects.count() == 1

    def test_another_address_under_the_key_is_refused(self, with_token, operator):
        client = with_token(operator)
        send(client)
        body = {"kind": "bank_to_trading", "currency": "BCH", "amount": "1", "reason": "Margin"}
        assert send(client, body, path="/api/v1/transfers/").status_code == 422
        assert not Transfer.objects.exists()

    def test_one_path_at_two_accounts_is_two_requests(self, with_token, operator):
        client = with_token(operator)
        number = Account.objects.get().pk
        assert send(client).status_code == 201
        assert send(client, path=f"/accounts/{number}{PATH}").status_code == 422

    def test_a_refusal_leaves_the_key_free(self, with_token, operator):
        client = with_token(operator)
        assert send(client, DRAFT | {"amount": "100000"}).status_code == 422
        assert send(client, DRAFT | {"amount": 1}).status_code == 400
        assert not KeyedRequest.objects.exists()
        assert send(client).status_code == 201

    def test_who_may_not_draft_claims_nothing(self, with_token, auditor, client):
        assert send(with_token(auditor)).status_code == 403
        assert send(client).status_code == 401
        assert not KeyedRequest.objects.exists()

    @pytest.mark.parametrize("left", [(), ("auditor",), ("treasury",)])
    def test_after_the_role_is_lost_the_key_gives_no_answer_any_more(self, with_token, operator, left):
        client, numbers = with_token(operator), Group.objects.in_bulk(field_name="name")
        first = send(client)
        operator.groups.set([numbers[name] for name in left])
        refused = send(with_token(operator))
        assert (first.status_code, refused.status_code) == (201, 403)
        assert "Idempotency-Replayed" not in refused
        assert rows.ADDRESS not in refused.content.decode()
        assert send(client).status_code in {401, 403}, "its old token"
        operator.groups.set([numbers["operator"]])
        again = send(with_token(operator))
        assert (again.status_code, again.json()["id"], again["Idempotency-Replayed"]) == (
            201,
            first.json()["id"],
            "true",
        )
        assert Withdrawal.objects.count() == 1

    @pytest.mark.parametrize("in_path", [True, False])
    def test_after_the_account_is_lost_the_key_gives_no_answer_of_it(self, with_token, operator, in_path):
        account = Account.objects.get()
        here = f"/accounts/{account.pk}{PATH}" if in_path else PATH
        assert send(with_token(operator), path=here).status_code == 201
        second = Account.objects.create(name="Second desk", quote_currency="USD")
        Person.objects.filter(pk=operator.pk).update(limits=f" operator:{second.pk} ")
        refused = send(with_token(Person.objects.get(pk=operator.pk)), path=here)
        assert refused.status_code == (404 if in_path else 422)
        assert "Idempotency-Replayed" not in refused
        assert rows.ADDRESS not in refused.content.decode()
        assert Withdrawal.objects.count() == 1

    def test_a_person_who_was_deactivated_gets_no_answer(self, with_token, operator):
        client = with_token(operator)
        send(client)
        Person.objects.filter(pk=operator.pk).update(is_active=False)
        assert send(client).status_code == 401

    @pytest.mark.parametrize("key", ["", "short", "x" * 81, '"12345678', "12345678 ", "1234 5678", "é" * 8, '"' * 10])
    def test_what_is_no_key_is_refused(self, with_token, operator, key):
        refused = send(with_token(operator), key=key)
        assert refused.status_code == 400
        assert "8 to 80 visible ASCII characters" in refused.json()["errors"]["Idempotency-Key"]
        assert not Withdrawal.objects.exists()

    def test_a_draft_needs_a_key_of_either_kind(self, with_token, operator):
        client = with_token(operator)
        refused = send(client, key=None)
        assert refused.status_code == 400
        assert set(refused.json()["errors"]) == {"Idempotency-Key"}
        assert send(client, DRAFT | {"request_key": "a-key-of-its-own"}, key=None).status_code == 201

    def test_the_draft_itself_is_found_when_the_answer_was_forgotten(self, with_token, operator):
        client = with_token(operator)
        first = send(client)
        now = clock.now()
        retention.purge(now=now + idempotency.KEPT_FOR - timedelta(minutes=1))
        assert KeyedRequest.objects.exists()
        retention.purge(now=now + idempotency.KEPT_FOR + timedelta(minutes=1))
        assert not KeyedRequest.objects.exists()
        again = send(client)
        assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])
        assert "Idempotency-Replayed" not in again

    def test_a_body_that_is_nested_too_deep_ends_in_no_error_of_ours(self, with_token, operator):
        client = with_token(operator)
        for depth in (200, 400, 600, 800, 900, 950, 1000, 5000):
            nested = '{"reason": ' + "[" * depth + "]" * depth + "}"
            assert send(client, nested).status_code == 400, depth

    def test_cancelling_takes_a_key_too(self, with_token, operator):
        client, now = with_token(operator), clock.now()
        row = rows.transfer(operator, kind="to_user", now=now)
        path = f"/api/v1/transfers/{row.pk}/cancel/"
        first, second = (send(client, {"reason": "Paid twice"}, path=path) for _ in range(2))
        assert (first.status_code, second.status_code) == (200, 200)
        assert second.content == first.content
        refused = send(client, {"reason": "Paid twice"}, path=path, key="another-key")
        assert refused.status_code == 422
        assert "can no longer be withdrawn" in refused.json()["detail"]

    def test_cancelling_an_order_takes_a_key_too(self, with_token, operator):
        client, now = with_token(operator), clock.now()
        order_rows.market(now=now)
        order = order_rows.placed(operator, now=now)
        path = f"/api/v1/orders/{order.pk}/cancel/"
        first, second = (send(client, "", path=path) for _ in range(2))
        assert (first.status_code, second.status_code) == (202, 202)
        assert second["Idempotency-Replayed"] == "true"


@pytest.mark.django_db
class TestTheClaim:
    def claim(self, person, now):
        return idempotency.begin(person=person, key=KEY, fingerprint="f" * 64, now=now)

    def test_while_it_is_answered_a_twin_waits(self, operator):
        now = clock.now()
        claim = self.claim(operator, now)
        with pytest.raises(idempotency.StillAnswering):
            self.claim(operator, now + timedelta(seconds=59))
        idempotency.keep(claim, status=201, content="{}")
        assert self.claim(operator, now + timedelta(days=3)) == idempotency.StoredReply(201, "{}")

    def test_who_died_is_followed_and_can_keep_nothing_any_more(self, operator):
        now = clock.now()
        late = self.claim(operator, now)
        claim = self.claim(operator, now + timedelta(seconds=61))
        fields = {"person": operator, "key": "a draft", "fingerprint": "", "claim": uuid.uuid4(), "began_at": now}
        assert isinstance(claim, idempotency.Claim)
        with pytest.raises(idempotency.StillAnswering), transaction.atomic():  # noqa: PT012
            KeyedRequest.objects.create(**fields)
            idempotency.keep(late, status=201, content="late")
        assert KeyedRequest.objects.count() == 1, "what the late one drafted went with its answer"
        idempotency.free(late)
        idempotency.keep(claim, status=201, content="{}")
        idempotency.free(claim)
        assert self.claim(operator, now) == idempotency.StoredReply(201, "{}")

    @pytest.mark.usefixtures("payable")
    def test_a_program_is_asked_to_come_again(self, with_token, operator):
        client = with_token(operator)
        send(client)
        KeyedRequest.objects.update(status=None, content="", began_at=clock.now())
        busy = send(client)
        assert (busy.status_code, busy["Retry-After"]) == (409, "1")
        assert busy.json()["detail"] == (
            "Nothing new was recorded. The same request is still being processed. Try again in a second."
        )


@pytest.mark.engine("two requests at once")
def test_racing_requests_make_one_draft(transactional_db, payable, with_token, operator):
    clients, answers = [with_token(operator) for _ in range(6)], []
    start = threading.Barrier(len(clients))

    def race(client):
        start.wait()
        try:
            answers.append(send(client))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=race, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == len(clients)
    assert Withdrawal.objects.count() == 1
    firsts = [answer for answer in answers if answer.status_code == 201 and "Idempotency-Replayed" not in answer]
    assert len(firsts) == 1
    others = [answer for answer in answers if answer is not firsts[0]]
    assert {(answer.status_code, answer.get("Idempotency-Replayed")) for answer in others} <= {
        (409, None),
        (201, "true"),
    }
    assert send(clients[0]).content == firsts[0].content


@pytest.mark.django_db
def test_every_address_that_takes_a_post_is_described_with_a_key(with_token, operator):
    described = json.loads(with_token(operator).get("/api/v1/schema/?format=json").content)
    posts = {path: methods["post"] for path, methods in described["paths"].items() if "post" in methods}
    assert len(posts) >= 6
    for path, facts_of in posts.items():
        names = {each["name"] for each in facts_of["parameters"] if each["in"] == "header"}
        assert names == {"Idempotency-Key"}, path
        assert {"400", "401", "403", "404", "409", "422", "429"} <= set(facts_of["responses"]), path
        assert set(described["paths"][path]) <= {"get", "post"}, "no other method changes anything"
