"""The pages: a draft is typed, looked at, proposed; somebody else agrees; versions stay readable."""

import re

import pytest

from desk import clock
from desk.people import totp
from exchange_ops.policy import quorum, ruleset
from exchange_ops.policy.models import PolicyVersion
from exchange_ops.policy_changes.models import PolicyChange
from tests.exchange_ops import rows
from tests.exchange_ops.policy_changes.keeping import SECRET, TIGHTER, Codes, propose

pytestmark = pytest.mark.django_db


@pytest.fixture
def people(make_person):
    quorum.ensure_first(now=clock.now())
    rows.account()
    found = [make_person("treasury", username=name) for name in ("ada", "ben")]
    for person in found:
        totp.enrol(person, SECRET)
    return found


@pytest.fixture
def typed():
    """The first rules as the page sends them, with two approvals for small values."""
    return {
        "t0-up_to": "10000",
        "t0-approvals": "2",
        "t0-mode": "hold_then_approve",
        "t1-up_to": "250000",
        "t1-approvals": "2",
        "t1-mode": "hold_then_approve",
        "above-approvals": "3",
        "above-mode": "approve_then_hold",
        "l0-kind": "order",
        "l1-kind": "order",
        "value_max_age_s": "300",
        "fee_factor": "1.5",
        "fee_floor": "5",
        "price_distance": "",
        "reason": "We <grew>",
    }


def text(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def code():
    return totp.code_at(SECRET, totp.step_at(clock.now()))


def test_rules_are_drafted_reviewed_proposed_and_agreed_to(signed_in, people, typed):
    ada, ben = (signed_in(person) for person in people)
    start = ada.get("/policy/draft/").content.decode()
    assert 'name="t0-up_to" value="10000"' in start
    reviewed = ada.post("/policy/draft/", typed)
    assert "Up to 10,000 USD: 2 approvals (was 1)." in text(reviewed)
    assert "This does not loosen any limit" in text(reviewed)
    assert not PolicyChange.objects.exists()
    digest = re.search(r'name="digest" value="(\w+)"', reviewed.content.decode())[1]
    answer = ada.post("/policy/draft/", typed | {"confirmed": "yes", "digest": digest, "code": code()})
    row = PolicyChange.objects.get()
    assert answer["Location"] == f"/policy/changes/{row.pk}/"
    page = ben.get(f"/policy/changes/{row.pk}/").content.decode()
    assert "We &lt;grew&gt;" in page
    assert "Approve and publish now" in page
    assert "Approve and publish now" not in ada.get(f"/policy/changes/{row.pk}/").content.decode()
    ben.post(f"/policy/changes/{row.pk}/agree/", {"digest": row.digest, "code": code()})
    assert quorum.current().number == 2
    assert "Policy v2" in text(ben.get("/policy/"))
    assert "Up to 10,000 USD: 2 approvals (was 1)." in text(ben.get("/policy/versions/2/"))
    assert "Earlier version" in text(ben.get("/policy/versions/1/"))
    assert ben.get("/policy/versions/3/").status_code == 404


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"t0-up_to": "1,000"}, "no thousands separator"),
        ({"t0-up_to": "-5"}, "greater than zero"),
        ({"t0-approvals": "0"}, "greater than or equal to 1"),
        ({"t0-approvals": ""}, "1 to 9 approvals"),
        ({"t0-mode": "at_once"}, "Select a valid choice"),
        ({"t1-up_to": "10000"}, "have the same upper limit"),
        ({"l0-most": "5", "l0-person": "999"}, "Select a valid choice"),
        ({"value_max_age_s": "9999999"}, "less than or equal to 3600"),
        ({"price_distance": "1e999"}, "less than or equal to 100"),
        ({"reason": ""}, "required"),
        ({"reason": "x" * 10_000}, "at most 300"),
        ({"t0-approvals": "1"}, "these rules are already in force"),
    ],
)
def test_what_is_typed_wrong_is_said_and_stays(signed_in, people, typed, change, sentence):
    answer = signed_in(people[0]).post("/policy/draft/", typed | change)
    assert answer.status_code == 422
    assert sentence in text(answer)
    assert 'name="above-approvals" value="3"' in answer.content.decode()
    assert not PolicyChange.objects.exists()


def test_editing_goes_on_with_what_was_typed(signed_in, people, typed):
    answer = signed_in(people[0]).post("/policy/draft/", typed | {"back": "yes"})
    assert answer.status_code == 200
    assert 'name="t0-approvals" value="2"' in answer.content.decode()


def test_a_wrong_code_proposes_nothing_and_keeps_the_page(signed_in, people, typed):
    answer = signed_in(people[0]).post(
        "/policy/draft/", typed | {"confirmed": "yes", "digest": "0" * 64, "code": "000000"}
    )
    assert answer.status_code == 409
    assert not PolicyChange.objects.exists()


def test_only_treasury_and_admins_open_the_draft_and_everybody_reads(signed_in, make_person, people):
    for role, status in (("operator", 403), ("auditor", 403), ("admin", 200)):
        client = signed_in(make_person(role))
        assert client.get("/policy/draft/").status_code == status
        assert client.get("/policy/versions/1/").status_code == 200
        assert ("Change the rules" in text(client.get("/policy/"))) == (status == 200)


def test_what_waits_is_on_the_list_of_the_other_and_is_stopped_there(signed_in, people):
    row = propose(Codes(), people[0], TIGHTER, now=clock.now())
    ada, ben = (signed_in(person) for person in people)
    assert row.reference in text(ben.get("/action/"))
    assert row.reference in text(ada.get("/action/?list=others"))
    end = f"/policy/changes/{row.pk}/end/"
    assert ben.post(end, {"comment": ""}).status_code == 409
    assert ben.post(end, {"comment": "Not now"}).status_code == 302
    assert "already" in text(ben.post(end, {"comment": "Again"}))
    assert "Rejected" in text(ben.get("/action/?list=done"))
    assert PolicyVersion.objects.count() == 1


def test_a_proposal_has_its_thread_and_its_countdown_is_kept_by_our_own_clock(signed_in, people):
    row = propose(Codes(), people[0], TIGHTER, now=clock.now())
    ben = signed_in(people[1])
    assert f'hx-get="/action/threads/policychange/{row.pk}/"' in ben.get(f"/policy/changes/{row.pk}/").content.decode()
    listed = ben.get("/action/").content.decode()
    assert re.search(r"data-deadline=\"[^\"]+\" data-now=\"[^\"]+\"\s+data-own-clock>\d+ (d|h|min) left", listed)
    rows.currency()
    rows.held(people[0], now=clock.now())
    listed = ben.get("/action/?source=approvals").content.decode()
    assert "data-deadline" in listed
    assert "data-own-clock" not in listed


def test_a_limit_of_open_orders_and_what_becomes_of_more_are_typed_read_and_published(signed_in, people, typed):
    ada, ben = (signed_in(person) for person in people)
    odd = ada.post("/policy/draft/", typed | {"l0-kind": "transfer", "l0-most": "5", "l0-beyond": "approve"})
    assert (odd.status_code, "transfers above a limit can only be rejected." in text(odd)) == (422, True)
    limit = {"l0-kind": "open", "l0-most": "20", "l0-beyond": "confirm", "l0-person": str(people[0].pk)}
    wanted = typed | limit | {"price_distance": "3", "price_beyond": "approve"}
    reviewed = ada.post("/policy/draft/", wanted)
    assert "Open orders by ada: at most 20 (above: needs explicit confirmation)" in text(reviewed)
    assert "Order price off market: anything above needs approval" in text(reviewed)
    digest = re.search(r'name="digest" value="(\w+)"', reviewed.content.decode())[1]
    ada.post("/policy/draft/", wanted | {"confirmed": "yes", "digest": digest, "code": code()})
    row = PolicyChange.objects.get()
    ben.post(f"/policy/changes/{row.pk}/agree/", {"digest": row.digest, "code": code()})
    said = ruleset.rules_of(quorum.current())
    assert [(each.kind, each.most, each.person, each.beyond) for each in said.limits] == [
        ("open", 20, people[0].pk, "confirm")
    ]
    assert said.price_bound == (3, "approve")
    page = text(ben.get("/policy/"))
    assert "Open orders by ada in any account : at most 20 ; anything above needs explicit confirmation" in page
    assert "Orders up to 3 % off market are accepted; anything above needs approval" in page
    assert 'value="approve" selected' in ada.get("/policy/draft/").content.decode()
