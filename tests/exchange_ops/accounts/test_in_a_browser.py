"""Two people in two browsers, each of one account; and an administrator who moves one of them to the other account."""

import json
import re

import pytest
from django.conf import settings as django_settings
from django.test import Client
from playwright.sync_api import expect

from desk import clock
from desk.models import Person
from tests.bounds import stretched
from tests.desk.staff.keeping import answer_at
from tests.e2e.looks import complaints
from tests.exchange_ops import rows
from tests.exchange_ops.conftest import await_so

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900), pytest.mark.django_db(transaction=True)]
expect.set_options(timeout=stretched(60_000))


@pytest.fixture
def enter(live_desk, new_page):
    """`enter(person)`: a browser of their own, signed in; gives what opens a path in it."""

    def enter(person):
        client = Client()
        client.force_login(person)
        cookie = client.cookies[django_settings.SESSION_COOKIE_NAME].value
        page = new_page()
        page.context.add_cookies([{"name": django_settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_desk.url}])

        def visit(path):
            page.goto(f"{live_desk.url}{path}", wait_until="load")
            return page

        return visit

    return enter


@pytest.mark.thorough("every route is held to its account without a browser")
def test_each_sees_what_is_of_their_account_and_may_decide_on_it(first, second, limited, operator, enter):
    now = clock.now()
    payouts = {account: rows.held(operator, now=now, account=account) for account in (first, second)}
    for account, other in ((first, second), (second, first)):
        visit = enter(limited("treasury", account))
        mine, theirs = payouts[account], payouts[other]
        page = visit("/action/")
        expect(page.locator("#inbox")).to_contain_text(mine.reference)
        expect(page.locator("#inbox")).not_to_contain_text(theirs.reference)
        expect(page.locator("body")).not_to_contain_text(other.name)
        visit(f"/withdrawals/{theirs.pk}/")
        expect(page.get_by_role("heading", name="Page not found")).to_be_visible()
        visit(f"/withdrawals/{mine.pk}/")
        expect(page.get_by_role("heading", name=mine.reference)).to_be_visible()
        expect(page.get_by_role("button", name=re.compile("^Approve")).first).to_be_visible()
    page = enter(Person.objects.get(username=f"the-treasury-{first.pk}"))(f"/withdrawals/{payouts[first].pk}/")
    page.get_by_label("Code from your authenticator app").fill(answer_at(0)["code"])
    page.get_by_role("button", name="Approve and pay 1.2500 BCH").click()
    expect(page.locator("main")).to_contain_text("Approved. The payment order is being sent to the exchange.")


def test_open_sockets_side_by_side_hear_of_their_own_account_alone(first, second, limited, operator, enter):
    now = clock.now()
    pages, heard = {}, {}
    for account in (first, second):
        visit = enter(limited("treasury", account))
        lines = heard[account] = []
        page = pages[account] = visit("/people/none/")
        # The driver takes no method of a list as a listener.
        page.on("websocket", lambda line, kept=lines: line.on("framereceived", lambda text: kept.append(text)))  # noqa: PLW0108
        visit("/action/")
        page.evaluate("window.marked = true")
        await_so(page, lambda lines=lines: any("followed" in line for line in lines))
    for account, other in ((first, second), (second, first)):
        quiet = len(heard[other])
        row = rows.held(operator, now=now, account=account)
        expect(pages[account].locator("#inbox")).to_contain_text(row.reference)
        # What reaches the other is at most that a list is to be read again: no account, no number, no state.
        assert all(json.loads(line).get("hint", {}) == {} for line in heard[other][quiet:])
        expect(pages[other].locator("#inbox")).not_to_contain_text(row.reference)
    assert all(page.evaluate("window.marked === true") for page in pages.values()), "no page was loaded again"


@pytest.mark.thorough("moving is proven without a browser")
def test_an_admin_moves_somebody_to_another_account(first, second, limited, enter):
    person = limited("treasury", first, username="mover")
    theirs, admin = enter(person), enter(limited("admin", username="keeper"))
    open_page = theirs(f"/accounts/{first.pk}/funds/")
    expect(open_page.get_by_role("heading", name="Funds")).to_be_visible()
    page = admin(f"/people/{person.pk}/")
    assert complaints(page, "person-by-account") == []
    page.get_by_role("group", name=re.compile("^Treasury")).get_by_label(first.name).uncheck()
    page.get_by_role("group", name=re.compile("^Treasury")).get_by_label(second.name).check()
    expect(page.locator("#review")).to_contain_text("Treasury for Second desk only")
    assert complaints(page, "person-change-by-account") == []
    page.get_by_label("Reason").fill("Works there now")
    page.get_by_label("Code from your authenticator app").fill(answer_at(0)["code"])
    page.get_by_role("button", name="Change roles").click()
    expect(page.locator("#person")).to_contain_text("Treasury for Second desk only")
    assert Person.objects.get(pk=person.pk).grants == [f"treasury:{second.pk}"]
    expect(open_page).to_have_url(re.compile("/sign-in/"))  # by itself: nothing was typed there
    again = enter(Person.objects.get(pk=person.pk))
    expect(again(f"/accounts/{first.pk}/funds/").get_by_role("heading", name="Page not found")).to_be_visible()
    expect(again("/funds/").get_by_role("heading", name="Funds")).to_be_visible()
    assert complaints(admin("/people/invite/"), "invite-by-account") == []
