"""What one part of a page says does not contradict what another says."""

import re
from decimal import Decimal

import pytest

from desk import clock
from desk.people import totp
from exchange_ops.withdrawals import deadlines, machine
from tests.exchange_ops import rows
from wire.values import Secret

pytestmark = pytest.mark.django_db
SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")


def code():
    return totp.code_at(SECRET, totp.step_at(clock.now()))


def page_of(client, row, kind="withdrawals"):
    return client.get(f"/{kind}/{row.pk}/").content.decode()


def digest_on(page):
    return re.search(r'name="digest" value="([0-9a-f]{64})"', page)[1]


@pytest.fixture
def approvers(make_person):
    people = [make_person("treasury", username=f"approver{number}") for number in range(3)]
    for person in people:
        totp.enrol(person, SECRET)
    return people


def test_three_of_three_approvals_stay_three_of_three_while_the_final_one_is_missing(
    signed_in, approvers, operator, payable
):
    now = clock.now()
    rows.balance(bank="5000", now=now)
    row = rows.submitted(operator, to="review", now=now, amount=Decimal("600"))
    clients = [signed_in(person) for person in approvers]
    assert "0 of 3 approvals" in page_of(clients[0], row)
    for client in clients:
        sent = {"digest": row.digest, "code": code()}
        answer = client.post(f"/withdrawals/{row.pk}/approve/", sent)
        assert answer.status_code == 302, re.findall(r'<p class="strong">(.*?)</p>', answer.content.decode())
    row.refresh_from_db()
    assert row.state == "queued"
    machine.move(row, event="hold_claimed", to="holding", now=now, attempt=1, tag=f"tx-{row.pk}")
    machine.move(row, event="hold_accepted", to="held", now=now, exchange_id="ex-1", **deadlines.deadlines(now))
    machine.move(row, event="echo_agrees", to="held", now=now, echo=rows.ECHO, echo_ok=True)
    for page in (page_of(clients[0], row), clients[0].get("/approvals/").content.decode()):
        assert "3 of 3 approvals, final release approval 0 of 1" in page
        assert "0 of 1 approvals" not in page
        assert "3 of 3 approvals<" not in page


def test_a_finding_that_was_given_is_said_and_its_form_is_put_away(signed_in, approvers, operator, payable):
    client, other = (signed_in(person) for person in approvers[:2])
    row = rows.held(operator, now=clock.now())
    machine.move(row, event="executed_without_us", to="investigate", now=clock.now())
    page = page_of(client, row)
    assert "Change your finding" not in page
    sent = {"digest": digest_on(page), "code": code(), "verdict": "not_paid", "comment": "Statement 12"}
    assert client.post(f"/withdrawals/{row.pk}/resolve/", sent).status_code == 302
    page = page_of(client, row)
    assert "Your finding: not paid. Another treasurer must submit the same finding." in page
    assert re.search(r'<details class="in reason-form"><summary>Change your finding</summary><form', page)
    assert "Change your finding" not in page_of(other, row)


def test_the_same_for_a_transfer(signed_in, approvers, operator, payable):
    rows.currency(now=clock.now(), transfer_enabled=True, precision_transfer=8)
    client = signed_in(approvers[0])
    row = rows.transfer_sent(operator, now=clock.now(), to="investigate")
    page = page_of(client, row, "transfers")
    sent = {"digest": digest_on(page), "code": code(), "verdict": "moved", "comment": "Statement 12"}
    assert client.post(f"/transfers/{row.pk}/resolve/", sent).status_code == 302
    page = page_of(client, row, "transfers")
    assert "Your finding: moved. Another treasurer must submit the same finding." in page
    assert "<summary>Change your finding</summary>" in page
