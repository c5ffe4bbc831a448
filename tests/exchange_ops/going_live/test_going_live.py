"""Going live: every item is open on an empty desk, and holds as soon as what it asks for is really there."""

import re
from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from django.conf import settings as live_settings
from django.db import connection

from desk import clock, sealing
from desk.models import AuditEvent
from desk.notifications.models import Delivery, Notification
from desk.people import stepup, totp
from exchange_ops.going_live import answers, confirmations, items, trial, verdicts
from exchange_ops.keys.models import ApiKey
from exchange_ops.policy import quorum
from exchange_ops.policy.models import PolicyVersion
from exchange_ops.reconciliation import scheduled_checks
from exchange_ops.shared import facts
from exchange_ops.shared.models import Account, CheckRun, Fact
from exchange_ops.withdrawals import machine
from project.environment import ExchangePlace
from tests.desk.authenticator import SoftKey
from tests.exchange_ops import rows
from wire.values import Secret

pytestmark = pytest.mark.django_db
SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")


def look(**changes):
    visit = verdicts.Visit(**{"is_secure": True, "host": "desk.example.com", "now": clock.now(), **changes})
    return {item.step.name: item.verdict for item in items.all_items(visit)}


def text(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def test_nothing_holds_on_an_empty_desk_and_each_item_says_why():
    found = look()
    holding = {"rows"} if connection.vendor == "postgresql" else set()
    assert {name for name, seen in found.items() if seen.holds} == holding
    assert all(seen.sentence.endswith(".") for seen in found.values())


@pytest.mark.parametrize(
    ("changes", "holds"),
    [
        ({}, True),
        ({"is_secure": False}, False),
        ({"host": "localhost:8000"}, False),
        ({"host": "other.example.com"}, False),
        ({"host": "[::1]:8000"}, False),
    ],
)
def test_tls_holds_for_a_request_that_came_by_it_under_a_name(settings, changes, holds):
    settings.DEMO, settings.DESK_HOST = False, "desk.example.com"
    assert look(**changes)["tls"].holds == holds


def test_the_ring_is_confirmed_for_the_ring_of_this_moment(admin, monkeypatch):
    now = clock.now()
    confirmations.confirm("key-ring", actor=admin, comment="The safe", session_key="s", now=now)
    seen = look()["secrets"]
    assert (seen.holds, seen.at) == (True, now)
    assert "The safe" in seen.sentence
    monkeypatch.setattr(sealing, "newest_id", lambda: "k9")
    assert "newer key" in look()["secrets"].sentence


@pytest.mark.parametrize(("name", "comment"), [("nothing", "x"), ("backup", " "), ("backup", "x" * 301)])
def test_odd_confirmations_are_refused(admin, operator, name, comment):
    with pytest.raises(confirmations.CannotConfirm):
        confirmations.confirm(name, actor=admin, comment=comment, session_key="s", now=clock.now())
    with pytest.raises(confirmations.CannotConfirm):
        confirmations.confirm("backup", actor=operator, comment="Done", session_key="s", now=clock.now())
    assert not AuditEvent.objects.filter(action=confirmations.ACTION).exists()


def test_people_count_with_their_factors_alone(make_person):
    admins = [make_person("admin", username=name) for name in ("root", "second")]
    people = [make_person("treasury", username=name) for name in ("ada", "ben")]
    for person in people:
        totp.enrol(person, SECRET)
    assert not look()["admin"].holds
    for number, admin in enumerate(admins, 1):
        totp.enrol(admin, SECRET)
        assert look()["admin"].holds == (number == 2), "every role needs two"
    assert look()["treasury"].sentence == "0 of 2 active treasurers have a passkey."
    for person in people:
        Authenticator.objects.create(user=person, type=Authenticator.Type.WEBAUTHN, data={})
    assert look()["treasury"].holds
    people[0].is_active = False
    people[0].save()
    assert not look()["treasury"].holds


@pytest.mark.parametrize("own", ["https://desk.example:8443", "https://desk.example"])
def test_a_trial_is_verified_as_an_approval_is_and_counts_for_the_address_of_today(make_person, settings, own):
    settings.DESK_HOST, settings.DESK_ORIGIN = "desk.example", own
    people = [make_person("treasury", username=name) for name in ("ada", "ben")]
    for number, person in enumerate(people, 1):
        key, context = SoftKey("desk.example"), {"person": person, "session_key": "s", "now": clock.now()}
        enrolled = key.enrol(person)
        options = stepup.challenge(purpose=trial.PURPOSE, digest=trial.digest_of(person), **context)
        arguments = {"actor": person, "session_key": "s", "now": clock.now()}
        with pytest.raises(stepup.CannotConfirm, match="at another address"):
            trial.sign(credential=key.answer(options, origin="https://desk.example:1")["credential"], **arguments)
        trial.sign(credential=key.answer(options, origin=own)["credential"], **arguments)
        assert look()["signature"].holds == (number == 2)
    assert AuditEvent.objects.filter(action=trial.ACTION).count() == 2
    settings.DESK_ORIGIN = "https://desk.example:9443"
    assert look()["signature"].sentence == "0 of 2 active treasurers have signed at https://desk.example:9443."
    settings.DESK_ORIGIN = own
    enrolled.delete()
    assert not look()["signature"].holds, "a passkey that was removed approves nothing"


def a_key(**observed):
    columns = {"account": rows.account(), "label": "Reader", "created_at": clock.now(), "probed_at": clock.now()}
    names = {"reads": "Payment information", "pays": "Withdraw cryptocurrencies"}
    return ApiKey.objects.create(
        login=f"key-{ApiKey.objects.count()}",
        observed={names[name]: value for name, value in observed.items()},
        **columns,
    )


def test_the_key_that_reads_is_one_that_can_not_pay():
    a_key(reads="granted", pays="granted")
    assert "can also withdraw" in look()["key"].sentence
    a_key(reads="granted", pays="missing")
    assert look()["key"].holds


def test_a_desk_with_a_reading_key_alone_says_that_it_only_watches():
    a_key(reads="granted", pays="missing")
    assert "No key can withdraw yet" in look()["key"].sentence


def test_the_exchange_was_probed_and_its_answer_counts():
    account = rows.account()
    Fact.objects.all().delete()
    assert "Not yet verified" in look()["probe"].sentence
    facts.note(account=account, name=facts.HOLD_END, value="success", now=clock.now())
    assert "approval always comes first" in look()["probe"].sentence
    facts.note(account=account, name=facts.HOLD_END, value=facts.LAPSES, now=clock.now() + timedelta(seconds=1))
    assert look()["probe"].holds


def test_the_answers_of_the_exchange_stand_on_the_page_with_their_moment(signed_in, auditor):
    account = rows.account()
    Fact.objects.all().delete()
    seen = {
        "hold_end": "failed",
        "listing_delay_ms": 250,
        "comment_is_echoed": False,
        "refusal.insufficient_funds": {"code": 20001, "http_status": 400},
        "something_new": "<b>odd</b>",
        "tag": "probe-1234",
    }
    for name, value in {"hold_end": "success", **seen}.items():
        facts.note(account=account, name=f"probe.{name}", value=value, now=clock.now())
    found = {each.question: each.answer for each in answers.all_answers()}
    assert found == {
        "Status of an expired reservation": "failed",
        "Listing delay, ms": "250",
        "Public comment returned": "no",
        "Response to an amount above the balance": "Code 20001, Http status 400",
        "Something new": "<b>odd</b>",
    }
    page = signed_in(auditor).get("/going-live/").content.decode()
    assert "5 verified exchange behaviours" in page
    assert "<b>odd</b>" not in page


def test_every_page_and_the_form_of_a_payout_say_that_the_desk_only_watches(signed_in, operator):
    ApiKey.objects.all().delete()
    client = signed_in(operator)
    assert "Watch only" not in client.get("/frame/?parts=strip").content.decode(), "no key at all is no watching"
    key = a_key(reads="granted")
    ApiKey.objects.filter(pk=key.pk).update(rights=["Payment information"])
    assert "Watch only" in client.get("/frame/?parts=strip").content.decode()
    assert "This desk is read-only." in client.get("/withdrawals/new/").content.decode()
    payer = a_key(pays="granted")
    ApiKey.objects.filter(pk=payer.pk).update(rights=["Withdraw cryptocurrencies"])
    assert "Watch only" not in client.get("/frame/?parts=strip").content.decode()
    assert "is read-only" not in client.get("/withdrawals/new/").content.decode()


@pytest.mark.parametrize(
    ("held", "findings", "holds"), [(True, [], True), (False, ["a", "b"], False), (None, [], False)]
)
def test_checks_count_as_they_last_ran(held, findings, holds):
    now = clock.now()
    ran = None if held is None else now
    for name in (scheduled_checks.AUDIT, scheduled_checks.name_of(rows.account())):
        CheckRun.objects.create(name=name, tried_at=now, ran_at=ran, held=held, findings=findings)
    found = look()
    assert (found["audit"].holds, found["reconciliation"].holds) == (holds, holds)
    assert found["audit"].at == ran


def test_rules_of_the_company_are_those_after_the_first():
    quorum.ensure_first(now=clock.now())
    assert not look()["policy"].holds
    PolicyVersion.objects.create(number=2, published_at=clock.now())
    assert look()["policy"].holds


def test_a_mail_counts_when_the_server_took_it_and_nothing_failed_since(settings, treasury):
    now = clock.now()
    assert "EMAIL_URL" in look()["mail"].sentence
    settings.EMAIL_HOST = "mail.test"
    columns = {"kind": "k", "reference": "r", "title": "T", "url": "/", "created_at": now, "stage": "opened"}
    for number, (state, at, problem) in enumerate(
        [("delivered", now, ""), ("queued", now + timedelta(seconds=5), "The mail server did not take it.")]
    ):
        row = Notification.objects.create(subject=f"s:{number}", **columns)
        Delivery.objects.create(
            notification=row,
            medium="email",
            person=treasury,
            state=state,
            created_at=now,
            updated_at=at,
            sent_at=now if state == "delivered" else None,
            last_problem=problem,
        )
        assert look()["mail"].holds == (state == "delivered")
    assert look()["mail"].sentence == "The mail server did not take it."


def test_a_payout_counts_when_the_chain_proves_it(operator):
    row, now = rows.held(operator, now=clock.now()), clock.now()
    machine.move(row, event="quorum_reached", to="committing", now=now, decision="commit", decided_at=now)
    machine.move(row, event="commit_confirmed", to="committed", now=now)
    assert "No payout yet" in look()["payout"].sentence
    machine.move(row, event="exchange_succeeded", to="settled", now=now)
    assert "not yet verified on-chain" in look()["payout"].sentence
    machine.move(row, event="proven", to="verified", now=now)
    assert look()["payout"].holds


def test_the_page_is_read_by_those_who_must_know_and_kept_by_admins(signed_in, make_person):
    assert live_settings.DEMO
    for role, status in (("operator", 403), ("auditor", 200), ("treasury", 200), ("admin", 200)):
        client = signed_in(make_person(role))
        answer = client.get("/going-live/")
        assert answer.status_code == status
        assert ("Confirm as done" in text(answer)) == (role == "admin")
        if status == 200:
            page = answer.content.decode()
            assert ("Make a trial signature" in page) == (role == "treasury")
            assert "mfa/js/webauthn-json" in page, "the button speaks to the device by it"
        assert client.post("/going-live/backup/confirm/", {"comment": "On the second machine"}).status_code == (
            302 if role == "admin" else 403
        )
    assert "On the second machine" in text(client.get("/going-live/"))
    assert client.post("/going-live/backup/confirm/", {"comment": ""}).status_code == 422
    done = text(client.post("/going-live/backup/confirm/", {"comment": "In the safe"}, follow=True))
    assert "A backup was restored and checked on another machine: confirmed and recorded" in done
    odd = client.post("/going-live/nothing/confirm/", {"comment": "x"}, follow=True)
    assert "Going live: not confirmed. Unknown item." in text(odd)
    assert AuditEvent.objects.filter(action=confirmations.ACTION).count() == 2


def test_a_test_mail_takes_the_way_of_every_mail(signed_in, make_person, settings):
    admin = make_person("admin", email="root@desk.test")
    client = signed_in(admin)
    assert "No e-mail sent" in text(client.post("/going-live/test-mail/", follow=True))
    settings.EMAIL_HOST = "mail.test"
    client.post("/going-live/test-mail/")
    assert "to root@desk.test queued" in text(client.post("/going-live/test-mail/", follow=True))
    assert (
        list(Delivery.objects.values_list("medium", "person__username", "state"))
        == [("email", admin.username, "queued")] * 2
    )
    row = Notification.objects.first()
    assert (row.stage, row.url, row.ended_at) == ("test", "/going-live/", row.created_at)


def test_every_account_has_to_be_at_an_exchange_of_the_settings(settings):
    settings.EXCHANGE_PLACES = {"second": ExchangePlace("https://b.test", "wss://b.test")}
    at = clock.now()
    rows.account(now=at)
    Account.objects.create(name="Second desk", place="second")
    assert look(now=at)["places"] == verdicts.Verdict(True, "Main desk at default, Second desk at second.", at)
    settings.EXCHANGE_PLACES = {}
    seen = look(now=at)["places"]
    assert not seen.holds
    assert "Second desk is paused: its exchange “second” is not in the settings" in seen.sentence
