"""The keys in a real browser: an admin adds one, sees it probed, rotates it and disables it; an operator may not."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.looks import complaints, shot
from tests.e2e.test_second_factor import enrol, virtual_passkey
from tests.e2e.visitors import rows, until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(900),
    pytest.mark.thorough("the life of a key is proven by the domain; the pages are looked at always"),
]


def fill(visitor, *, login, secret, rights, label="", account=""):
    page = visitor.page
    if account:
        page.get_by_label("Account").select_option(label=account)
    if label:
        page.get_by_label("Name", exact=True).fill(label)
    page.get_by_label("API key", exact=True).fill(login)
    page.get_by_label("Secret").fill(secret)
    for box in page.get_by_role("checkbox", name=re.compile("orders|Orderbook|Payment|Withdraw")).all():
        box.set_checked(any(right in (box.get_attribute("value") or "") for right in rights))


def give_code(visitor, button):
    visitor.page.get_by_label("Code from your authenticator app").fill(visitor.codes.fresh())
    visitor.page.get_by_role("button", name=button, exact=True).click()


def state(visitor):
    return visitor.page.locator("#key .head .chip")


def number(visitor):
    visitor.page.wait_for_url(re.compile(r"/keys/\d+/$"))
    return int(re.search(r"/keys/(\d+)/", visitor.page.url)[1])


def right(visitor, name):
    return visitor.page.get_by_role("row", name=re.compile(re.escape(name)))


def test_a_key_from_its_first_day_to_its_last(house, visit):
    admin = visit("admin")
    found = []
    admin.open("/keys/")
    expect(admin.page.get_by_role("heading", name="Main desk")).to_be_visible()
    found += complaints(admin.page, "keys")

    # A wrong code first: nothing is stored, and the secret has to be typed again.
    admin.page.get_by_role("link", name="Add a key").click()
    fill(admin, label="Reader, autumn", login="demo-full", secret="demo-full-secret", rights=["Orderbook", "Payment"])
    admin.page.get_by_label("Code from your authenticator app").fill("000000")
    admin.page.get_by_role("button", name="Add key", exact=True).click()
    expect(admin.page.get_by_role("alert")).to_contain_text("Key not saved.")
    expect(admin.page.get_by_label("Secret")).to_have_value("")
    expect(admin.page.get_by_label("API key", exact=True)).to_have_value("demo-full")
    found += complaints(admin.page, "key-form")
    assert not rows(house, "SELECT id FROM exchange_ops_apikey WHERE login = 'demo-full'")

    admin.page.get_by_label("Secret").fill("demo-full-secret")
    give_code(admin, "Add key")
    first = number(admin)
    # The worker asks the exchange, and the page shows it without being loaded again.
    admin.page.evaluate("window.mark = 'here'")
    expect(state(admin)).to_have_text("In use")
    expect(right(admin, "Withdraw cryptocurrencies")).to_contain_text("Granted, not needed")
    expect(admin.page.locator("#key")).to_contain_text("This key has more permissions than it needs")
    assert admin.page.evaluate("window.mark") == "here"
    found += complaints(admin.page, "key")

    # Step 1: a successor with exactly the rights that are needed.
    admin.page.get_by_role("link", name="Rotate key").click()
    fill(admin, login="next-read", secret="next-read-secret", rights=["Orderbook", "Payment"])
    give_code(admin, "Add new key")
    second = number(admin)
    expect(state(admin)).to_have_text("Ready to switch over")
    # Step 2: switch over.
    admin.open(f"/keys/{first}/")
    expect(admin.page.locator("#key")).to_contain_text("Step 2 of 3")
    found += complaints(admin.page, "key-switch")
    give_code(admin, "Switch to the new key")
    expect(state(admin)).to_have_text("Replaced, kept")
    expect(admin.page.locator("#key")).to_contain_text("may still be in progress")
    found += complaints(admin.page, "key-kept")
    assert rows(house, "SELECT active FROM exchange_ops_apikey WHERE id = ?", second) == [(1,)]
    # Somebody thinks again: back to the old key, and the successor is gone.
    admin.page.get_by_role("button", name="Switch back to this key, wipe the new one").click()
    expect(state(admin)).to_have_text("In use")
    assert rows(house, "SELECT active, sealed_secret FROM exchange_ops_apikey WHERE id = ?", second) == [(0, "")]

    # And its last day, by another admin.
    admin = visit("admin")
    admin.open(f"/keys/{first}/")
    admin.page.get_by_role("link", name="Disable key").click()
    expect(admin.page.locator("main")).to_contain_text("None: other keys for Main desk have the same permissions")
    give_code(admin, "Disable this key permanently")
    expect(state(admin)).to_have_text("Disabled")
    assert rows(house, "SELECT active, sealed_secret FROM exchange_ops_apikey WHERE id = ?", first) == [(0, "")]
    assert "demo-full-secret" not in house.text
    assert not found, "\n".join(found)


def test_what_stops_with_the_last_key_and_a_passkey_that_confirms(house, visit):
    admin = visit("admin")
    virtual_passkey(admin.page)
    enrol(admin)
    admin.open("/keys/new/")
    fill(admin, label="Orders only", login="next-trade", secret="next-trade-secret", rights=["Place/cancel"])
    admin.page.get_by_role("button", name="Add with a passkey").click()
    key = number(admin)
    expect(state(admin)).to_have_text("In use")
    ((trade,),) = rows(house, "SELECT id FROM exchange_ops_apikey WHERE login = 'demo-withdraw'")
    admin.open(f"/keys/{trade}/disable/")
    expect(admin.page.locator("main")).to_contain_text("Payouts can't be reserved, paid or released")
    assert not complaints(admin.page, "key-disable")
    admin.open(f"/keys/{key}/disable/")
    admin.page.get_by_role("button", name="Disable this key permanently with a passkey").click()
    expect(state(admin)).to_have_text("Disabled")
    kinds = rows(house, "SELECT kind FROM desk_stepup WHERE purpose IN ('key-add', 'key-disable') AND kind = 'passkey'")
    assert len(kinds) == 2


def test_an_operator_may_not_and_an_auditor_only_reads(house, visit):
    operator, auditor = visit("operator"), visit("auditor")
    expect(operator.page.get_by_role("link", name="Keys", exact=True)).to_have_count(0)
    before = rows(house, "SELECT count(*), sum(active) FROM exchange_ops_apikey")
    ((key,),) = rows(house, "SELECT id FROM exchange_ops_apikey WHERE login = 'demo-read'")
    for visitor in (operator, auditor):
        code = visitor.codes.fresh()  # good for all of them: who may not is told so before any code is used
        for path in ("/keys/new/", f"/keys/{key}/disable/", f"/keys/{key}/rotate/", f"/keys/{key}/probe/"):
            status, body = visitor.post_by_hand(path, label="x", login="y", secret="z", code=code)
            assert status == 403
            assert "No changes made" in body
    assert rows(house, "SELECT count(*), sum(active) FROM exchange_ops_apikey") == before
    auditor.open("/keys/")
    expect(auditor.page.locator("#keys")).to_contain_text("demo-read")
    expect(auditor.page.get_by_role("link", name="Add a key")).to_have_count(0)
    auditor.open(f"/keys/{key}/")
    expect(auditor.page.locator("#key")).to_contain_text("Payment information")
    expect(auditor.page.locator("#key").get_by_role("button", name=re.compile("exchange again|Disable"))).to_have_count(
        0
    )


def test_the_demo_keys_were_asked_about_without_anybody_asking(house, crew):
    def probed():
        query = "SELECT count(*) FROM exchange_ops_apikey WHERE login LIKE 'demo-%' AND probed_at IS NOT NULL"
        return rows(house, query)[0][0] >= 3

    until(probed)


def test_opened_evidence_stays_open_when_it_is_read_again(house, visit):
    operator = visit("operator")
    withdrawal = operator.ask_and_hold(amount="1.3071", reason="Evidence to read")
    evidence = operator.page.locator("#story details").last
    evidence.locator("summary").click()
    expect(evidence).to_have_attribute("open", "")
    events = operator.page.locator("#story ol.line > li").count()
    another = visit("operator", name=operator.name)
    another.open(f"/withdrawals/{withdrawal}/")
    another.page.locator("summary", has_text="Withdraw request").click()
    another.page.locator("#id_cancel-reason").fill("Not needed")
    another.page.get_by_role("button", name="Withdraw this request").click()
    expect(operator.page.locator("#story ol.line > li")).not_to_have_count(events)
    expect(operator.page.locator("#story details").last).to_have_attribute("open", "")


def test_the_tables_of_the_system_page_fit_a_narrow_screen(house, visit):
    visitor = visit("auditor", width=360)
    visitor.open("/system/")
    shot(visitor.page, "system")
    visitor.page.set_viewport_size({"width": 360, "height": 900})
    cut = visitor.page.evaluate(
        """() => [...document.querySelectorAll("#followers table, #now table")].filter((one) => {
            const frame = one.closest(".scroll") || one.parentElement;
            return one.getBoundingClientRect().right > frame.getBoundingClientRect().right + 0.5;
        }).map((one) => `${one.offsetWidth} ${one.innerText}`)"""
    )
    assert cut == []
