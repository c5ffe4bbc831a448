"""Time runs out at the exchange: the desk releases by itself, the open pages tell, and nobody can approve any more."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.visitors import Outside, rows, until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(900),
    pytest.mark.thorough("the release and the refusal are proven by the domain on both sides of each limit"),
]

MINUTE_MS = 60_000
NOBODY_DECIDED = "No decision by five minutes before the exchange's deadline."


def decided(house, number):
    return rows(house, "SELECT state, version, decision FROM exchange_ops_withdrawal WHERE id = ?", number)


def test_five_minutes_before_the_end_the_desk_releases_by_itself(house, visit):
    outside = Outside.from_now(house)
    operator, reader, typist = visit("operator"), visit("treasury"), visit("treasury")
    number = operator.ask_and_hold(amount="1.2511", reason="Nobody will look")
    for one in (reader, typist):
        one.open(f"/withdrawals/{number}/")
    typist.page.get_by_label("Code from your authenticator app").fill("123456")
    for one in (operator, reader, typist):
        one.mark()
    house.control("clock", {"advance_ms": 55 * MINUTE_MS})
    for one in (operator, reader, typist):
        expect(one.state()).to_have_text("Expired")
        expect(one.page.locator("#facts")).to_contain_text(NOBODY_DECIDED)
        assert one.is_same_document()
    offered = reader.page.get_by_role("button", name=re.compile("^Approve"))
    expect(offered).to_have_count(0)
    expect(reader.page.get_by_label("Code from your authenticator app")).to_have_count(0)
    # Somebody in the middle of typing keeps what they typed, and can't send it.
    expect(typist.page.get_by_text("The status changed while you were typing.")).to_be_visible()
    expect(typist.page.get_by_label("Code from your authenticator app")).to_have_value("123456")
    expect(typist.page.get_by_role("button", name=re.compile("^Approve and pay"))).to_be_disabled()
    assert outside.changes() == [("create_withdrawal", True), ("rollback_withdrawal", True)]
    assert outside.statuses("1.2511") == ["failed"]
    assert outside.is_balanced()


def test_an_approval_after_its_time_is_refused_with_the_hour(house, visit):
    outside = Outside.from_now(house)
    operator, treasury = visit("operator"), visit("treasury")
    number = operator.ask_and_hold(amount="1.2512", reason="Almost in time")
    treasury.open(f"/withdrawals/{number}/")
    expect(treasury.page.get_by_role("button", name=re.compile("^Approve and pay"))).to_be_enabled()
    newest = "SELECT skew_ms FROM exchange_ops_clockreading ORDER BY id DESC LIMIT 1"
    skew_before = rows(house, newest)[0][0]
    house.control("clock", {"advance_ms": int(53.5 * MINUTE_MS)})
    until(lambda: rows(house, newest)[0][0] - skew_before > 53 * MINUTE_MS)
    treasury.approve()
    refusal = treasury.page.locator("#decide [role=alert]").first
    expect(refusal).to_contain_text("Approvals closed at")
    expect(refusal).to_contain_text("Your decision was not recorded.")
    expect(treasury.page.get_by_role("button", name=re.compile("^Approve"))).to_have_count(0)
    assert [row[0] for row in decided(house, number)] == ["held"]
    assert rows(house, "SELECT count(*) FROM exchange_ops_approval WHERE withdrawal_id = ?", number) == [(0,)]
    digest = rows(house, "SELECT digest FROM exchange_ops_withdrawal WHERE id = ?", number)[0][0]
    by_hand = treasury.post_by_hand(f"/withdrawals/{number}/approve/", digest=digest, code=treasury.codes.fresh())
    assert by_hand[0] == 409
    assert "Approvals closed at" in by_hand[1]
    treasury.open(f"/withdrawals/{number}/")
    expect(treasury.page.locator("#decide .why-not")).to_contain_text("Approvals closed at")
    # The page says so once and then rests: it does not ask the desk again and again until the money is released.
    requests = []
    treasury.page.on("request", lambda request: requests.append(request.url))
    treasury.page.wait_for_timeout(3_000)
    assert len(requests) <= 3, requests
    treasury.page.locator("summary", has_text=re.compile("^Reject$")).click()
    expect(treasury.page.get_by_role("button", name="Reject and release funds")).to_be_enabled()
    house.control("clock", {"advance_ms": int(1.6 * MINUTE_MS)})
    expect(operator.state()).to_have_text("Expired")
    assert outside.changes() == [("create_withdrawal", True), ("rollback_withdrawal", True)]
