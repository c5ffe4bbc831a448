"""Nobody decides on their own request, although they hold both roles: not by the page, past it, or past the domain."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.e2e.visitors import Outside, rows

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

OWN = "You requested this payout, so another treasurer must decide."


def test_ones_own_request_can_not_be_approved_anywhere(house, visit):
    outside = Outside.from_now(house)
    both, treasury = visit("both"), visit("treasury")
    number = both.ask_and_hold(amount="1.2521", reason="For myself")
    before = rows(house, "SELECT state, version, decision, digest FROM exchange_ops_withdrawal WHERE id = ?", number)

    expect(both.page.locator("#decide .why-not")).to_contain_text(OWN)
    for offered in ("^Approve", "passkey", "^Reject"):
        expect(both.page.locator("#decide").get_by_role("button", name=re.compile(offered))).to_have_count(0)
    expect(both.page.get_by_label("Code from your authenticator app")).to_have_count(0)
    both.open("/approvals/")
    expect(both.page.locator("#inbox .entry", has_text="For myself")).to_have_count(0)

    code = both.codes.fresh()
    status, answer = both.post_by_hand(f"/withdrawals/{number}/approve/", digest=before[0][3], code=code)
    assert status == 409
    assert OWN in answer
    status, answer = both.post_by_hand(f"/withdrawals/{number}/reject/", **{"reject-reason": "By hand"})
    assert status == 409
    assert OWN in answer

    refusals = json.loads(house.python("-m", "tests.e2e.own_approval", str(number), both.name).splitlines()[-1])
    assert refusals["domain"] == OWN
    for written_past_the_domain in ("orm", "claimed", "raw"):
        assert "nobody decides on their own request" in refusals[written_past_the_domain], refusals

    after = rows(house, "SELECT state, version, decision, digest FROM exchange_ops_withdrawal WHERE id = ?", number)
    assert after == before
    assert rows(house, "SELECT count(*) FROM exchange_ops_approval WHERE withdrawal_id = ?", number) == [(0,)]
    assert outside.changes() == [("create_withdrawal", True)]

    treasury.open(f"/withdrawals/{number}/")
    treasury.approve()
    treasury.is_paid()
    assert outside.statuses("1.2521") == ["success"]


@pytest.mark.thorough("who may do what is proven by the matrix")
@pytest.mark.parametrize("role", ["operator", "auditor"])
def test_a_role_that_does_not_decide_is_refused_past_the_page(house, visit, role):
    """Their page has no form, and a form that they send all the same changes nothing."""
    asker = visit("operator")
    number = asker.ask_and_hold(amount="1.2522", reason=f"Seen by {role}")
    digest = rows(house, "SELECT digest FROM exchange_ops_withdrawal WHERE id = ?", number)[0][0]
    other = visit(role, name="auditor" if role == "auditor" else "")
    other.open(f"/withdrawals/{number}/")
    expect(other.page.locator("#decide")).to_contain_text("Needs a treasury decision.")
    expect(other.page.locator("#decide form")).to_have_count(0)
    status, answer = other.post_by_hand(
        f"/withdrawals/{number}/approve/", digest=digest, code=other.codes.fresh(), passkey=""
    )
    assert status == 409
    assert "Only treasury can decide on payouts." in answer
    asker.page.locator("summary", has_text="Withdraw request").click()
    asker.page.locator("#id_cancel-reason").fill("Seen enough")
    asker.page.get_by_role("button", name="Withdraw this request").click()
    expect(asker.state()).to_have_text("Withdrawn by requester")
