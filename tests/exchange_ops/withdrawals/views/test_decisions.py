"""The card and the decisions on it: what is shown in which order, who may press what, and what a refusal says first."""

import json
import re
from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from desk.incidents import review as incidents
from desk.people import totp
from desk.rows import fingerprint
from exchange_ops.policy import freezes
from exchange_ops.policy.models import Freeze
from exchange_ops.shared.models import ClockReading
from exchange_ops.templatetags import exchange_ops as tags
from exchange_ops.withdrawals import machine, states
from exchange_ops.withdrawals.models import Approval
from tests.exchange_ops import rows
from wire.values import Secret

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")


def code(*, step=0):
    return totp.code_at(SECRET, totp.step_at(clock.now()) + step)


def page_of(client, row, **headers):
    response = client.get(f"/withdrawals/{row.pk}/", headers=headers)
    assert response.status_code == 200
    return response.content.decode()


@pytest.fixture
def approver(treasury):
    totp.enrol(treasury, SECRET)
    return treasury


def test_the_card_keeps_its_order(signed_in, treasury, operator):
    row = rows.held(operator, now=clock.now())
    page = page_of(signed_in(treasury), row)
    heads = ("To", "Network", "Payment ID", "Fee and total", "Requested by", "Policy", "Exchange’s record", "Time")
    order = ["1.2500 <", *(f"<dt>{head}<" for head in heads)]
    places = [page.index(piece) for piece in order]
    assert places == sorted(places)
    assert "<dt>Payment ID</dt><dd>none</dd>" in page
    assert f'data-copy="{rows.ADDRESS}"' in page
    assert page.count('aria-label="matches"') == 2
    assert f"data-fingerprint>{fingerprint.words(row.digest)}<" in page


def test_what_arrives_and_leaves_stands_on_the_card(signed_in, treasury, operator):
    row = rows.held(operator, now=clock.now(), include_fee=True)
    page = page_of(signed_in(treasury), row)
    assert "1.2490 BCH" in page
    assert "deducted from amount" in page


def test_a_difference_in_the_exchanges_record_is_marked_in_words(signed_in, treasury, operator):
    row = rows.held(operator, now=clock.now(), echo=False)
    differences = [{"field": "address", "ours": rows.ADDRESS, "theirs": "bchreg:other", "agrees": False}]
    decision = {"decision": "rollback", "decided_at": clock.now()}
    machine.move(
        row, event="echo_differs", to="rolling_back", now=clock.now(), echo=differences, echo_ok=False, **decision
    )
    page = page_of(signed_in(treasury), row)
    assert 'aria-label="differs"' in page
    assert f"bchreg:<mark>other</mark></bdi></span>, approved: <bdi>{rows.ADDRESS}</bdi>" in page
    assert "data-decides" not in page


def test_the_buttons_name_what_they_do(signed_in, approver, operator):
    client = signed_in(approver)
    page = page_of(client, rows.held(operator, now=clock.now()))
    assert "Approve and pay 1.2500 BCH" in page
    assert "Reject and release funds" in page
    page = page_of(client, rows.submitted(operator, to="review", now=clock.now()))
    assert "Approve 1.2500 BCH before the hold" in page
    assert "Reject payout" in page


def test_the_countdown_is_drawn_by_the_server_with_its_clock(signed_in, treasury, operator):
    row = rows.held(operator, now=clock.now() - timedelta(minutes=33))
    page = page_of(signed_in(treasury), row)
    drawn = re.search(r'data-deadline="([^"]+)" data-now="([^"]+)"[^>]*>([^<]+)<', page)
    assert drawn
    assert drawn[1].startswith(f"{row.approve_until:%Y-%m-%dT%H:%M:%S}")
    assert drawn[3] in {"19 min left", "20 min left"}
    assert f"approvals close at {row.approve_until:%H:%M} UTC" in page
    assert 'id="time-voice" role="status"' in page


def test_deadlines_are_shown_by_our_clock_where_the_exchanges_is_ahead(signed_in, treasury, operator):
    row = rows.held(operator, now=clock.now().replace(second=30, microsecond=0))
    ClockReading.objects.create(account=row.account, skew_ms=41 * 60_000, read_at=clock.now())
    closes, released = (at - timedelta(minutes=41) for at in (row.approve_until, row.rollback_at))
    page = page_of(signed_in(treasury), row)
    assert page.count(f"approvals close at {closes:%H:%M} UTC") == 2, "the facts and the decision"
    assert f"the funds are released at {released:%Y-%m-%d %H:%M}" in page
    inbox = " ".join(signed_in(treasury).get("/action/").content.decode().split())
    assert f", closes {closes:%H:%M} UTC" in inbox
    assert f"{row.approve_until:%H:%M} UTC" not in page + inbox


def test_one_part_is_answered_for_htmx_and_is_never_kept(signed_in, treasury, operator):
    row = rows.held(operator, now=clock.now())
    for part, sign in {"facts": "<article", "decide": "Your decision", "story": "Timeline"}.items():
        response = signed_in(treasury).get(
            f"/withdrawals/{row.pk}/", headers={"HX-Request": "true", "HX-Target": part, "X-Background": "1"}
        )
        body = response.content.decode()
        assert sign in body
        assert "<html" not in body
        assert body.count(f'id="{part}"') == 1
        assert response["Cache-Control"] == "no-store"
        assert "HX-Target" in response["Vary"]


def test_an_approval_commits_with_the_second_factor(signed_in, approver, operator):
    row = rows.held(operator, now=clock.now())
    seen = {"digest": row.digest, "code": f"{code()[:3]} {code()[3:]}", "comment": "Called them back"}
    response = signed_in(approver).post(f"/withdrawals/{row.pk}/approve/", seen, follow=True)
    row.refresh_from_db()
    assert (row.state, row.decision, row.decided_by) == ("committing", "commit", approver)
    page = response.content.decode()
    assert "Approved. The payment order is being sent to the exchange." in page
    assert "Called them back" in page
    assert "Recall and release funds" in page


@pytest.mark.parametrize(
    "wrong",
    [
        ({"code": ""}, 422, "Enter the code from your authenticator app"),
        ({"code": "12345"}, 422, "Enter the six-digit code."),
        ({"code": "١٢٣٤٥٦"}, 422, "Enter the six-digit code."),
        ({"code": "000000"}, 409, "Incorrect code"),
        ({"digest": ""}, 422, ""),
        ({"digest": "x"}, 422, ""),
        ({"digest": "0" * 64}, 409, "after you opened it"),
        ({"passkey": "{}", "code": ""}, 409, "passkey response"),
        ({"passkey": "[" * 2000, "code": ""}, 409, "passkey response"),
    ],
)
def test_an_approval_that_is_not_in_order_changes_nothing(signed_in, approver, operator, wrong):
    changes, status, words = wrong
    row = rows.held(operator, now=clock.now())
    seen = {"digest": row.digest, "code": code(), "comment": "kept words", **changes}
    response = signed_in(approver).post(f"/withdrawals/{row.pk}/approve/", seen)
    assert response.status_code == status
    page = response.content.decode()
    assert words in page
    assert 'value="kept words"' in page
    row.refresh_from_db()
    assert row.state == "held"
    assert not Approval.objects.exists()


def test_nobody_approves_what_they_asked_for(signed_in, make_person):
    both = make_person("operator", "treasury", username="both")
    totp.enrol(both, SECRET)
    row, client = rows.held(both, now=clock.now()), signed_in(both)
    page = page_of(client, row)
    assert "You requested this payout" in page
    assert "Approve and pay" not in page
    response = client.post(f"/withdrawals/{row.pk}/approve/", {"digest": row.digest, "code": code()})
    assert response.status_code == 409
    assert "You requested this payout" in response.content.decode()
    row.refresh_from_db()
    assert row.state == "held"


def test_after_the_time_there_is_no_button_and_a_late_form_is_refused(signed_in, approver, operator):
    row, client = rows.held(operator, now=clock.now() - timedelta(minutes=54)), signed_in(approver)
    page = page_of(client, row)
    assert "Approvals closed at" in page
    assert "Approve and pay" not in page
    assert ">expired<" in page
    response = client.post(f"/withdrawals/{row.pk}/approve/", {"digest": row.digest, "code": code()})
    assert response.status_code == 409
    assert "The funds are being released" in response.content.decode()


def test_a_rejection_needs_a_reason_and_releases(signed_in, treasury, operator):
    row, client = rows.held(operator, now=clock.now()), signed_in(treasury)
    empty = client.post(f"/withdrawals/{row.pk}/reject/", {"reject-reason": "  "})
    assert empty.status_code == 422
    assert "Enter a reason" in empty.content.decode()
    client.post(f"/withdrawals/{row.pk}/reject/", {"reject-reason": "Wrong invoice"})
    row.refresh_from_db()
    assert (row.state, row.decision) == ("rolling_back", "rollback")
    late = client.post(f"/withdrawals/{row.pk}/reject/", {"reject-reason": "Again"})
    assert late.status_code == 409
    assert "Already decided by treasury" in late.content.decode()


def test_the_one_who_asked_takes_it_back(signed_in, operator):
    row, client = rows.requested(operator, now=clock.now()), signed_in(operator)
    assert "Withdraw request" in page_of(client, row)
    page = client.post(f"/withdrawals/{row.pk}/cancel/", {"cancel-reason": "Typed twice"}, follow=True)
    row.refresh_from_db()
    assert row.state == "cancelled"
    assert "Request closed. Nothing was sent." in page.content.decode()


def test_the_one_who_asked_needs_no_reason_and_anybody_else_does(signed_in, operator, approver):
    row, client = rows.requested(operator, now=clock.now()), signed_in(approver)
    empty = client.post(f"/withdrawals/{row.pk}/cancel/", {"cancel-reason": " "})
    assert (empty.status_code, "Enter a reason" in empty.content.decode()) == (422, True)
    signed_in(operator).post(f"/withdrawals/{row.pk}/cancel/", {"cancel-reason": " "})
    row.refresh_from_db()
    assert row.state == "cancelled"
    assert row.events.get(event="cancelled").evidence == {}


def test_the_row_of_ones_own_request_leads_to_taking_it_back(signed_in, operator, approver, make_person):
    now = clock.now()
    mine, over = rows.held(operator, now=now), rows.ended(operator, now=now)
    client, link = signed_in(operator), "?do=cancel#decide"
    page = client.get("/withdrawals/").content.decode()
    assert f"/withdrawals/{mine.pk}/{link}" in page
    assert f"/withdrawals/{over.pk}/{link}" not in page
    for person in (approver, make_person("operator", username="another")):
        assert link not in signed_in(person).get("/withdrawals/").content.decode()
    opened = client.get(f"/withdrawals/{mine.pk}/?do=cancel").content.decode()
    assert opened.count('<details class="in reason-form" open') == 1
    assert '<details class="in reason-form" open' not in client.get(f"/withdrawals/{mine.pk}/").content.decode()


def test_an_approval_is_called_back_while_nothing_was_told(signed_in, approver, operator):
    row, client = rows.held(operator, now=clock.now()), signed_in(approver)
    client.post(f"/withdrawals/{row.pk}/approve/", {"digest": row.digest, "code": code()})
    client.post(f"/withdrawals/{row.pk}/recall/", {"recall-reason": "Second look"})
    row.refresh_from_db()
    assert (row.state, row.decision) == ("rolling_back", "rollback")


def test_an_unclear_case_takes_two_verdicts(signed_in, approver, treasury2, operator):
    totp.enrol(treasury2, SECRET)
    row = rows.held(operator, now=clock.now())
    machine.move(row, event="executed_without_us", to="investigate", now=clock.now())
    for number, person in enumerate((approver, treasury2)):
        client = signed_in(person)
        digest = re.search(r'name="digest" value="([0-9a-f]{64})"', page_of(client, row))[1]
        seen = {"digest": digest, "code": code(), "verdict": "not_paid", "comment": "Statement 12 shows no payout"}
        assert client.post(f"/withdrawals/{row.pk}/resolve/", seen).status_code == 302
        row.refresh_from_db()
        assert row.state == ("investigate", "resolved_not_paid")[number]


def test_the_open_hold_of_a_closed_request_is_in_the_inbox_and_two_people_release_it(
    signed_in, approver, treasury2, operator
):
    totp.enrol(treasury2, SECRET)
    row = rows.held(operator, now=clock.now())
    machine.move(row, event="executed_without_us", to="investigate", now=clock.now())
    machine.move(row, event="resolved", to="resolved_paid", now=clock.now())
    line = {"type": "payout", "status": "created", "withdrawal": row, "exchange_id": row.exchange_id}
    rows.entry(9, now=clock.now(), **line)
    incidents.review(now=clock.now())
    client = signed_in(approver)
    for path in ("/action/", f"/withdrawals/{row.pk}/"):
        assert f"{row.reference}: the funds are still reserved at the exchange" in client.get(path).content.decode()
    assert re.search(r'data-count="[1-9]', client.get("/frame/?parts=count-action").content.decode())
    assert f"/withdrawals/{row.pk}/release/" not in page_of(signed_in(operator), row)
    for number, person in enumerate((approver, treasury2)):
        client = signed_in(person)
        digest = re.search(r'name="digest" value="([0-9a-f]{64})"', page_of(client, row))[1]
        address, seen = f"/withdrawals/{row.pk}/release/", {"digest": digest, "comment": "Statement 12"}
        assert client.post(address, seen).status_code == 422, "not without a second factor"
        assert client.post(address, {**seen, "code": code()}).status_code == 302
        assert row.release_votes.count() == number + 1
        assert address not in page_of(client, row)
    assert "The release is retried until" in page_of(signed_in(operator), row)


def test_what_the_exchange_does_not_carry_out_stands_in_the_inbox(signed_in, treasury, operator):
    row = rows.held(operator, now=clock.now())
    decision = {"decision": "commit", "decided_at": clock.now()}
    machine.move(row, event="quorum_reached", to="committing", now=clock.now(), **decision)
    machine.move(row, event="commit_confirmed", to="committed", now=clock.now())
    incidents.review(now=clock.now())
    assert row.reference not in signed_in(treasury).get("/action/").content.decode()
    row.__class__.objects.filter(pk=row.pk).update(updated_at=clock.now() - timedelta(hours=3))
    incidents.review(now=clock.now())
    page = signed_in(treasury).get("/action/").content.decode()
    assert f"{row.reference}: the exchange accepted the payment order 3 h ago" in page
    assert "Do not pay this again" in page


def test_a_decision_opened_without_its_form_says_what_it_takes(signed_in, treasury, operator):
    row = rows.held(operator, now=clock.now())
    for name in ("approve", "reject", "cancel", "recall", "resolve", "release"):
        answer = signed_in(treasury).get(f"/withdrawals/{row.pk}/{name}/")
        assert (answer.status_code, answer["Allow"]) == (405, "POST")
        assert "Nothing was sent" in answer.content.decode()


@pytest.mark.parametrize("number", [0, 999_999, 10**17, 10**30])
def test_a_withdrawal_that_is_not_there_says_so(signed_in, treasury, number):
    response = signed_in(treasury).get(f"/withdrawals/{number}/")
    assert response.status_code == 404
    assert "Page not found" in response.content.decode()
    gone = signed_in(treasury).post(f"/withdrawals/{number}/reject/", {"reject-reason": "x"})
    assert gone.status_code == 404


def test_every_state_has_its_sentence_icon_and_word_on_the_page(signed_in, treasury, operator, settings):
    sprite = (settings.BASE_DIR / "static/vendor/lucide-1.62.0/sprite.svg").read_text()
    for name, state in states.STATES.items():
        assert f'id="{state.icon}"' in sprite
        assert state.label in tags.DISPLAY.state(name)
    events = {move.event for move in states.TRANSITIONS}
    assert events <= set(tags.EVENTS)


def test_one_freezes_alone_and_two_thaw(signed_in, approver, treasury2, operator):
    totp.enrol(treasury2, SECRET)
    row, client = rows.held(operator, now=clock.now()), signed_in(approver)
    assert client.post("/policy/freeze/", {"reason": " "}).status_code == 422
    assert (
        "Account frozen. No payouts"
        in client.post("/policy/freeze/", {"reason": "Odd payout"}, follow=True).content.decode()
    )
    row.refresh_from_db()
    assert row.state == "rolling_back"
    frozen = Freeze.objects.get()
    for number, person in enumerate((approver, treasury2)):
        seen = {"digest": freezes.digest_of(frozen), "code": code(), "comment": "Explained"}
        response = signed_in(person).post(f"/policy/freezes/{frozen.pk}/thaw/", seen, follow=True)
        assert ("Approval recorded. A second treasurer", "Freeze lifted. Payouts")[number] in response.content.decode()
    again = signed_in(approver).post(f"/policy/freezes/{frozen.pk}/thaw/", {**seen, "code": code(step=1)})
    assert again.status_code == 409
    assert "already lifted" in again.content.decode()


def test_a_frozen_account_is_said_on_every_open_request(signed_in, treasury, operator):
    row = rows.submitted(operator, to="review", now=clock.now())
    freezes.freeze(person=treasury, reason="Odd payout", account=row.account, now=clock.now())
    page = page_of(signed_in(treasury), row)
    assert "The account is frozen." in page
    assert "nothing can be approved" in page
    assert "data-passkey " not in page


def test_the_inbox_sorts_what_waits(signed_in, approver, operator, make_person):
    now, both = clock.now(), make_person("operator", "treasury", username="both")
    late, early = rows.held(operator, now=now), rows.held(operator, now=now - timedelta(minutes=40), amount=Decimal(2))
    own = rows.held(both, now=now, amount=Decimal(3))
    client = signed_in(approver)
    mine = client.get("/approvals/").content.decode()
    assert mine.index(early.reference) < mine.index(late.reference)
    soon = client.get("/approvals/?list=soon").content.decode()
    assert early.reference in soon
    assert late.reference not in soon
    others = signed_in(both).get("/approvals/?list=others").content.decode()
    assert own.reference in others
    assert late.reference not in others
    client.post(f"/withdrawals/{late.pk}/reject/", {"reject-reason": "no"})
    assert late.reference in client.get("/approvals/?list=done").content.decode()
    assert "data-decides" not in mine.split("<main")[1].split("</main")[0], "nothing is decided from the list itself"


def test_hostile_text_is_shown_as_text(signed_in, treasury, operator):
    hostile = "<script>alert(1)</script>{{ 7|add:7 }}"
    row = rows.held(operator, now=clock.now(), reason=hostile)
    for path in (f"/withdrawals/{row.pk}/", "/approvals/", f"/search/?q={hostile}"):
        page = signed_in(treasury).get(path).content.decode()
        assert "<script>alert" not in page
        assert "14" not in page.split("alert(1)")[-1][:40]


def test_a_challenge_for_the_page_is_bound_to_it(signed_in, treasury, operator):
    row = rows.held(operator, now=clock.now())
    question = json.dumps({"purpose": "approve-withdrawal", "digest": row.digest})
    response = signed_in(treasury).post("/step-up/challenge", question, content_type="application/json")
    assert response.status_code == 409
    assert "You have no passkey" in response.json()["problem"]


@pytest.mark.parametrize("place", range(0, len(rows.ADDRESS), 7))
def test_one_changed_character_of_an_address_is_always_marked(place):
    from desk.templatetags.desk import marked

    other = rows.ADDRESS[:place] + "!" + rows.ADDRESS[place + 1 :]
    assert marked(other, beside=rows.ADDRESS) == f"{rows.ADDRESS[:place]}<mark>!</mark>{rows.ADDRESS[place + 1 :]}"
    assert "<mark>" in marked(other[:-1] + "x", beside=rows.ADDRESS)
    assert "<mark>" not in marked(rows.ADDRESS, beside=rows.ADDRESS)
    assert "&lt;b&gt;" in marked("<b>", beside="")
