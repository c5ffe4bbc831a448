"""Decisions on chosen requests: each shown whole, one factor for the list, and each judged by itself."""

import json
import re
from datetime import timedelta
from decimal import Decimal

import pytest

from desk import audit_check, clock
from desk.actions import listing, selection
from desk.models import Person, StepUp
from desk.people import totp
from desk.people.stepup import CannotConfirm
from exchange_ops.market.models import Ticker
from exchange_ops.orders import machine as orders
from exchange_ops.orders.decisions import approvals as order_approvals
from exchange_ops.orders.models import Order
from exchange_ops.policy import freezes
from exchange_ops.withdrawals import deadlines, machine
from exchange_ops.withdrawals.models import Approval, Withdrawal
from tests.desk.authenticator import SoftKey
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows
from tests.rows import unguarded
from wire.values import Secret

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")


@pytest.fixture
def approver(treasury):
    totp.enrol(treasury, SECRET)
    return treasury


def code(*, step=0):
    return totp.code_at(SECRET, totp.step_at(clock.now()) + step)


def text(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def chosen(client, *subjects):
    return client.get("/action/selection/", {"of": [row.subject for row in subjects]})


def hidden(page, name):
    return re.search(rf'name="{name}" value="([^"]*)"', page.content.decode())[1]


def decisions_of(page, *verdicts):
    """What the page sends when these rows are ticked: each row with its verdict and reason."""
    fields = {"mark": hidden(page, "mark"), "subject": [row.subject for row, *_ in verdicts]}
    for row, verdict, *reason in verdicts:
        fields |= {f"tick-{row.subject}": "on", f"verdict-{row.subject}": verdict, f"reason-{row.subject}": reason}
        fields[f"digest-{row.subject}"] = hidden(page, f"digest-{row.subject}")
    return fields


def send(client, fields, **answer):
    return client.post("/action/selection/", {**fields, "passkey": "", "code": "", **answer})


def findings():
    """What the checks of the trail find. Heads outside the database are written after a commit: none here."""
    heads = ("The heads file", "The row heads file")
    return [finding for finding in audit_check.verify(replay=True) if not finding.startswith(heads)]


def state_of(row):
    return type(row).objects.values_list("state", flat=True).get(pk=row.pk)


def test_each_is_shown_whole_and_decided_under_one_code(signed_in, approver, operator):
    now = clock.now()
    first, second = (rows.held(operator, now=now, amount=Decimal(amount)) for amount in ("1.5", "2.5"))
    third = rows.transfer(operator, kind="to_user", now=now)
    client = signed_in(approver)
    page = chosen(client, third, first, second)
    words_of_page = text(page)
    for row in (first, second, third):
        assert words_of_page.count(f"Decide on {row.reference}") == 1
    for words in (
        "First payout",
        "2 payouts to this recipient",
        "Approve and pay 1.5000 BCH",
        "maximum fee",
        "approvals close",
        "First transfer",
    ):
        assert words in words_of_page
    content = page.content.decode()
    places = [content.index(f'value="{row.subject}"') for row in (third, first, second)]
    assert places == sorted(places), "in the order in which they were ticked"
    assert not re.search(r"data-tick checked", content), "each is ticked on purpose"

    verdicts = ((third, "approve"), (first, "approve"), (second, "reject", "Not ours"))
    answer = send(client, decisions_of(page, *verdicts), code=code())
    assert answer.status_code == 302, text(answer)
    done = text(client.get(answer["Location"]))
    assert "3 of 3 decided" in done
    for words in (
        "Approved. The transfer is being sent now.",
        "Approved. The payment order is being sent to the exchange.",
        "Rejected. Nothing was paid; the funds are being released.",
    ):
        assert words in done
    assert [state_of(row) for row in (first, second, third)] == ["committing", "rolling_back", "approved"]
    assert StepUp.objects.filter(kind="totp").count() == 1
    vote = Approval.objects.get(withdrawal=first)
    assert vote.confirmation.factor == "totp"
    assert vote.confirmation.signed_with.listed.count("withdrawal:") == 2
    assert findings() == []
    with unguarded(machine.GUARDS):
        signature = StepUp.objects.filter(kind="totp")
        signature.update(listed=signature.get().listed.replace(first.digest, "ab" * 32))
    assert any(f"W-{first.pk} relies on second-factor confirmation" in finding for finding in findings())


def not_own(row, person):
    Withdrawal.objects.filter(pk=row.pk).update(initiator=person)


def changed(row, person):
    Withdrawal.objects.filter(pk=row.pk).update(digest="ab" * 32)


def closed(row, person):
    early = deadlines.deadlines(clock.now() - timedelta(hours=1))
    Withdrawal.objects.filter(pk=row.pk).update(**early)


def decided(row, person):
    Withdrawal.objects.filter(pk=row.pk).update(state="rolled_back", decision="rollback", decided_at=clock.now())


SPOILED = {
    "own request": (not_own, "Not decided. You requested this payout"),
    "changed since shown": (changed, "Not decided. The request or the policy changed"),
    "expired": (closed, "Not decided. Approvals closed at"),
    "decided meanwhile": (decided, "Not decided. Already decided by"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_one_that_is_refused_stops_no_other(signed_in, approver, operator, name):
    spoil, sentence = SPOILED[name]
    first, bad, last = (rows.held(operator, now=clock.now(), amount=Decimal(n)) for n in (1, 2, 3))
    client = signed_in(approver)
    page = chosen(client, first, bad, last)
    fields = decisions_of(page, *((row, "approve") for row in (first, bad, last)))
    with unguarded(machine.GUARDS):
        spoil(bad, approver)
    before = state_of(bad)
    done = text(client.get(send(client, fields, code=code())["Location"]))
    assert sentence in done
    assert "2 of 3 decided" in done
    assert [state_of(row) for row in (first, bad, last)] == ["committing", before, "committing"]
    assert not Approval.objects.filter(withdrawal=bad).exists()


def test_a_rejection_is_of_what_was_shown(signed_in, approver, operator):
    row = rows.held(operator, now=clock.now())
    client = signed_in(approver)
    fields = decisions_of(chosen(client, row), (row, "reject", "Not ours"))
    with unguarded(machine.GUARDS):
        changed(row, approver)
    done = text(client.get(send(client, fields, code=code())["Location"]))
    assert "Not decided. The request or the policy changed" in done
    assert state_of(row) == "held"


def test_a_frozen_account_and_a_deactivated_person_decide_nothing(signed_in, approver, operator, make_person):
    row = rows.held(operator, now=clock.now())
    client = signed_in(approver)
    fields = decisions_of(chosen(client, row), (row, "approve"))
    act = selection.Act(approver, clock.now(), "session", answer={"kind": "totp", "code": code()})
    Person.objects.filter(pk=approver.pk).update(is_active=False)
    off = Person.objects.get(pk=approver.pk)
    with pytest.raises(CannotConfirm, match="deactivated"):
        selection.decide(
            [selection.Decision(row.subject, "approve-held-withdrawal", row.digest, "approve")],
            act=selection.Act(off, act.now, "session", answer=act.answer),
            mark=fields["mark"],
            clock=clock.now,
        )
    Person.objects.filter(pk=approver.pk).update(is_active=True)
    freezes.freeze(person=make_person("treasury", username="stops"), reason="Odd", account=row.account, now=clock.now())
    done = text(client.get(send(client, fields, code=code())["Location"]))
    assert "0 of 1 decided" in done
    assert not Approval.objects.exists()


def test_nothing_is_decided_that_was_not_shown(signed_in, approver, operator, make_person):
    first, other = rows.held(operator, now=clock.now()), rows.held(operator, now=clock.now(), amount=Decimal(2))
    client = signed_in(approver)
    fields = decisions_of(chosen(client, first), (first, "approve"))
    more = {
        **fields,
        "subject": [first.subject, other.subject],
        f"tick-{other.subject}": "on",
        f"verdict-{other.subject}": "approve",
        f"digest-{other.subject}": other.digest,
    }
    colleague = signed_in(make_person("treasury", username="colleague"))
    attempts = {
        "another request": more,
        "another digest": {**fields, f"digest-{first.subject}": "ab" * 32},
        "no mark": {**fields, "mark": "x"},
        "a colleague's mark": {**fields, "mark": hidden(chosen(colleague, first), "mark")},
        "twice": {**fields, "subject": [first.subject, first.subject]},
        "nothing ticked": {name: value for name, value in fields.items() if not name.startswith("tick-")},
        "no reason": {**fields, f"verdict-{first.subject}": "reject"},
        "no verdict": {**fields, f"verdict-{first.subject}": "pay"},
    }
    for name, attempt in attempts.items():
        refused = send(client, attempt, code=code())
        assert refused.status_code == 409, name
        assert "No decisions recorded." in text(refused), name
    assert not StepUp.objects.exists()
    assert {state_of(row) for row in (first, other)} == {"held"}


def test_a_passkey_signs_what_is_ticked_at_that_moment_and_is_used_once(signed_in, approver, operator):
    key = SoftKey()
    key.enrol(approver)
    one, two = (rows.held(operator, now=clock.now(), amount=Decimal(n)) for n in (1, 2))
    client = signed_in(approver)
    page = chosen(client, one, two)
    fields = decisions_of(page, (one, "approve"), (two, "approve"))
    options = client.post("/action/selection/challenge", fields).json()
    signed = key.answer(options)["credential"]
    for bent in (
        {**fields, "subject": list(reversed(fields["subject"]))},
        {name: value for name, value in fields.items() if name != f"tick-{two.subject}"},
        {**fields, f"verdict-{two.subject}": "reject", f"reason-{two.subject}": "No"},
    ):
        refused = send(client, bent, passkey=json.dumps(signed))
        assert refused.status_code == 409
        assert "does not match the page" in text(refused)
    assert send(client, fields, passkey=json.dumps(signed)).status_code == 302
    assert {state_of(row) for row in (one, two)} == {"committing"}
    again = send(client, fields, passkey=json.dumps(signed))
    assert again.status_code == 409
    assert StepUp.objects.filter(kind="passkey").count() == 1


def test_at_most_fifty_and_only_what_one_may_see(signed_in, approver, make_person):
    client = signed_in(approver)
    many = client.get("/action/selection/", {"of": [f"withdrawal:{number}" for number in range(1, 52)]})
    assert "Select up to 50 requests." in text(many)
    strange = client.get("/action/selection/", {"of": ["incident:1", "withdrawal:x", "withdrawal:999", "x" * 80]})
    assert "No requests selected." in text(strange)


def moved(row):
    """The market moved so far that the order's price has to be confirmed by name."""
    Ticker.objects.update_or_create(
        symbol=row.symbol, defaults={"last": 200, "bid": 199, "ask": 201, "read_at": clock.now()}
    )


def test_orders_beyond_a_limit_are_decided_with_payouts_under_one_code(signed_in, approver, operator):
    now = clock.now()
    order_rows.market(now=now)
    order_rows.limit_for_approval(most=Decimal(100), now=now)
    first, second = (order_rows.requested(operator, now=now, quantity=Decimal(each)) for each in ("0.5", "0.6"))
    payout = rows.held(operator, now=now)
    client = signed_in(approver)
    listed = client.get("/action/").content.decode()
    assert f'name="of" value="{first.subject}"' in listed
    page = chosen(client, first, payout, second)
    assert "Approve and place buy order: 0.5 BCH at 400 USD" in text(page)
    assert "Approval deadline" in text(page)
    verdicts = ((first, "approve"), (payout, "approve"), (second, "reject", "Not ours"))
    done = text(client.get(send(client, decisions_of(page, *verdicts), code=code())["Location"]))
    assert "3 of 3 decided" in done
    assert "Approved. The order is being sent now." in done
    assert "Rejected. Order not placed." in done
    assert [state_of(row) for row in (first, payout, second)] == ["requested", "committing", "declined"]
    assert order_approvals.is_approved(Order.objects.get(pk=first.pk)), "the worker counts the word in the list"
    assert StepUp.objects.filter(kind="totp").count() == 1
    assert findings() == []


def test_an_order_that_is_not_what_was_shown_or_needs_more_than_a_tick_is_not_decided(signed_in, approver, operator):
    now = clock.now()
    order_rows.market(now=now)
    order_rows.limit_for_approval(most=Decimal(100), now=now)
    first, second = (order_rows.requested(operator, now=now, quantity=Decimal(each)) for each in ("0.5", "0.6"))
    client = signed_in(approver)
    fields = decisions_of(chosen(client, first, second), (first, "reject", "Not ours"), (second, "approve"))
    with unguarded(orders.GUARDS):
        Order.objects.filter(pk=first.pk).update(digest="ab" * 32)
    moved(second)
    again = text(chosen(client, second))
    assert "The market has moved since the request. Open the order to confirm explicitly" in again
    assert "Approve and place" not in again
    done = text(client.get(send(client, fields, code=code())["Location"]))
    assert "0 of 2 decided" in done
    assert "Not decided. The order changed after you opened it." in done
    assert "Not decided. The market has moved." in done
    assert {state_of(row) for row in (first, second)} == {"waiting"}
    assert "No requests selected" not in text(chosen(signed_in(operator), first))
    assert "Decide on" not in text(chosen(signed_in(operator), first)), "never one's own"


# The list -------------------------------------------------------------------------------------------------------------


def test_sixty_requests_have_pages_of_twenty_that_keep_their_place(signed_in, treasury, operator):
    for number in range(60):
        rows.held(operator, now=clock.now() - timedelta(seconds=number), amount=Decimal(number + 1))
    client = signed_in(treasury)
    pages = [client.get(f"/action/?page={number}&sort=oldest").content.decode() for number in (1, 2, 3)]
    listed = [re.findall(r'aria-label="Select (W-\d+)"', page) for page in pages]
    assert [len(part) for part in listed] == [20, 20, 20]
    assert len({reference for part in listed for reference in part}) == 60
    assert "Page 2 of 3: 21 to 40 of 60" in pages[1]
    assert 'hx-get="/action/?page=2&amp;sort=oldest"' in pages[1], "an update reads the same page"
    wish = listing.Wish(page=9)
    assert listing.listing_for(treasury, wish, now=clock.now()).page == 3, "the last page, when there are fewer"
    assert 'href="?page=2&amp;sort=oldest&amp;list=others"' not in pages[1], "another list begins at its first page"


def test_a_half_done_decision_says_on_the_card_who_approved_and_when(signed_in, approver, operator, make_person):
    row = rows.held(operator, now=clock.now(), amount=Decimal(30))
    client, colleague = signed_in(approver), signed_in(make_person("treasury", username="colleague"))
    assert "0 of 2 approvals" in text(colleague.get("/action/"))
    sent = client.post(f"/withdrawals/{row.pk}/approve/", {"digest": row.digest, "code": code(), "comment": ""})
    assert sent.status_code == 302
    at = Approval.objects.get().at
    assert f"1 of 2 approvals: {approver.username} , {at:%H:%M} UTC" in text(colleague.get("/action/"))


def test_after_a_decision_the_next_one_is_offered(signed_in, approver, operator):
    first, second = (rows.held(operator, now=clock.now(), amount=Decimal(n)) for n in (1, 2))
    client = signed_in(approver)
    assert "Next: approve" not in text(client.get(f"/withdrawals/{first.pk}/"))
    client.post(f"/withdrawals/{first.pk}/approve/", {"digest": first.digest, "code": code(), "comment": ""})
    page = client.get(f"/withdrawals/{first.pk}/")
    assert f"Next: approve {second.reference}, 2.0000 BCH" in text(page)
    assert re.search(rf'href="/withdrawals/{second.pk}/" data-shortcut="u"', page.content.decode())
    client.post(f"/withdrawals/{second.pk}/reject/", {"reject-reason": "Not ours"})
    assert "Next: approve" not in text(client.get(f"/withdrawals/{second.pk}/")), "nothing else waits"
