"""Where a page asks for a passkey challenge."""

import json
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from desk import clock
from desk.audit import trail
from desk.models import Person, StepUp, StepUpChallenge, StepUpFailure
from desk.people import code_limits, stepup
from desk.people.signing import signed_fields, signed_lists
from tests.desk.authenticator import SoftKey

pytestmark = pytest.mark.django_db
DECISION = {"purpose": "approve-withdrawal", "digest": "ab" * 32}


@pytest.fixture
def key(treasury: Person) -> SoftKey:
    soft_key = SoftKey()
    soft_key.enrol(treasury)
    return soft_key


def ask(client: Client, content: Any) -> Any:
    body = content if isinstance(content, str | bytes) else json.dumps(content)
    return client.post(reverse("step_up_challenge"), body, content_type="application/json")


def test_the_challenge_belongs_to_the_session_that_asked(client: Client, treasury: Person, key: SoftKey) -> None:
    client.force_login(treasury)
    options = ask(client, DECISION).json()
    answer = key.answer(options)
    made = StepUpChallenge.objects.get()
    assert made.session_digest == trail.digest_of(client.session.session_key or "")
    arguments: dict[str, Any] = {**DECISION, "person": treasury, "answer": answer, "now": clock.now()}
    with pytest.raises(stepup.CannotConfirm), transaction.atomic():
        stepup.verify(session_key="another", **arguments)
    with transaction.atomic():
        assert stepup.verify(session_key=client.session.session_key or "", **arguments).kind == "passkey"


def test_it_wants_a_sign_in_a_post_and_a_csrf_token(treasury: Person, key: SoftKey) -> None:
    client = Client(enforce_csrf_checks=True)
    assert ask(client, DECISION).status_code in {302, 403}
    client.force_login(treasury)
    assert ask(client, DECISION).status_code == 403
    assert client.get(reverse("step_up_challenge")).status_code == 405
    assert not StepUpChallenge.objects.exists()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "null",
        "[]",
        b"\xff\xfe",
        "[" * 1_500,
        {},
        {"purpose": "p"},
        {"digest": "d"},
        {"purpose": "", "digest": "d"},
        {"purpose": 1, "digest": "d"},
        {"purpose": "p", "digest": ["d"]},
        {"purpose": "p" * 61, "digest": "d"},
        {"purpose": "p", "digest": "d" * 65},
        {**DECISION, "fields": ["verdict"]},
        {**DECISION, "fields": {"verdict": 1}},
        {**DECISION, "fields": {str(number): "x" for number in range(9)}},
        {**DECISION, "more": "x" * 12_000},
        {**DECISION, "subject": 12},
        {**DECISION, "subject": "withdrawal:" + "1" * 60},
        {**DECISION, "subject": "withdrawal:12", "fields": {"verdict": "paid"}},
    ],
)
def test_odd_requests_are_refused(client: Client, treasury: Person, key: SoftKey, content: Any) -> None:
    client.force_login(treasury)
    answer = ask(client, content)
    assert (answer.status_code, answer.json()) == (400, {"problem": "Send purpose and digest as JSON strings."})
    assert not StepUpChallenge.objects.exists()


def test_without_a_passkey_the_reason_is_said(client: Client, operator: Person) -> None:
    client.force_login(operator)
    answer = ask(client, DECISION)
    assert answer.status_code == 409
    assert "no passkey" in answer.json()["problem"]


def test_a_wrong_code_within_a_request_is_counted(client: Client, treasury: Person, rf: Any) -> None:
    """What the middleware does for every page, although the decision itself is rolled back."""
    from django.http import HttpResponse

    from desk.people import totp
    from desk.web.requests import RequestIdMiddleware
    from wire.values import Secret

    totp.enrol(treasury, Secret("JBSWY3DPEHPK3PXP"))

    def decide(request: Any) -> HttpResponse:
        try:
            with transaction.atomic():
                answer = {"kind": "totp", "code": "000000"}
                stepup.verify(**DECISION, person=treasury, answer=answer, session_key="s", now=clock.now())
        except stepup.CannotConfirm as reason:
            return HttpResponse(str(reason), status=409)
        return HttpResponse("approved")

    assert RequestIdMiddleware(decide)(rf.post("/")).status_code == 409
    assert StepUpFailure.objects.count() == 1
    assert not StepUp.objects.exists()
    assert code_limits._collected.get() is None


def test_fields_are_signed_with_the_digest(client: Client, treasury: Person, key: SoftKey) -> None:
    client.force_login(treasury)
    fields = {"verdict": "paid", "comment": "Read\nthe statement"}
    answer = key.answer(ask(client, {**DECISION, "fields": fields}).json())
    arguments: dict[str, Any] = {"purpose": DECISION["purpose"], "person": treasury, "answer": answer}
    arguments |= {"session_key": client.session.session_key or "", "now": clock.now()}
    for mutated in ({}, {**fields, "verdict": "not_paid"}, {**fields, "comment": "Read"}, {**fields, "more": ""}):
        with pytest.raises(stepup.CannotConfirm, match="does not match the page"), transaction.atomic():
            stepup.verify(digest=signed_fields.bind(DECISION["digest"], mutated), **arguments)
    same = {**fields, "comment": "Read\r\nthe  statement "}
    with transaction.atomic():
        assert stepup.verify(digest=signed_fields.bind(DECISION["digest"], same), **arguments).kind == "passkey"


def test_the_comment_of_an_approval_and_its_boxes_are_signed_as_a_list_of_it(
    client: Client, treasury: Person, key: SoftKey
) -> None:
    client.force_login(treasury)
    fields = {"comment": "As  agreed ", "confirmed": "a:1 b:2"}
    for sent, members in ((fields, ["As agreed", "a:1 b:2"]), ({"comment": "As agreed"}, ["As agreed"])):
        ask(client, {**DECISION, "subject": "withdrawal:12", "fields": sent})
        made = StepUpChallenge.objects.latest("pk")
        whole = ["withdrawal:12", DECISION["purpose"], DECISION["digest"], "approve", *members]
        text = trail.canonical(["desk.signed-list-1", [whole]])
        assert (made.purpose, made.digest) == (signed_lists.PURPOSE, signed_lists.digest_of(text))
    ask(client, {**DECISION, "subject": "withdrawal:12", "fields": {"comment": " ", "confirmed": ""}})
    made = StepUpChallenge.objects.latest("pk")
    assert {"purpose": made.purpose, "digest": made.digest} == DECISION
