"""Lists as people use them: by keyboard, by pointer, on a telephone, and while new rows come in above."""

import csv
import io
import json
import re

import pytest
from playwright.sync_api import expect

from tests.e2e.looks import complaints, failures

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(900),
    pytest.mark.thorough("lists are proven by views, whatever they list; the pages are looked at always"),
]


def tab_to(page, what):
    """Go on with the tab key until this has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if what.evaluate("(one) => one === document.activeElement"):
            return
    raise AssertionError(f"No key leads to {what}")


def file_of(page, button):
    with page.expect_download() as download:
        button.click()
    found = download.value
    return found.suggested_filename, found.path().read_text(encoding="utf-8")


def test_columns_are_chosen_by_keyboard_and_kept(visit):
    auditor = visit("auditor")
    page = auditor.open("/ledger/")
    heads = page.locator("#rows thead th")
    expect(heads.filter(has_text="Fee")).to_have_count(1)
    menu = page.locator("#list-view > summary")
    tab_to(page, menu)
    page.keyboard.press("Enter")
    fee = page.get_by_role("checkbox", name="Fee", exact=True)
    expect(fee).to_be_visible()
    page.keyboard.press("Escape")
    expect(fee).to_be_hidden()
    expect(menu).to_be_focused()
    page.keyboard.press("Enter")
    assert failures(page, "the open menu") == []
    tab_to(page, fee)
    page.keyboard.press("Space")
    tab_to(page, page.locator("#list-view").get_by_role("button", name="Apply"))
    page.keyboard.press("Enter")
    expect(heads.filter(has_text="Fee")).to_have_count(0)
    page.reload()
    expect(heads.filter(has_text="Fee")).to_have_count(0)


def test_a_filter_is_saved_by_keyboard_and_leads_back(visit):
    auditor = visit("auditor")
    page = auditor.open("/ledger/")
    tab_to(page, page.locator(".list-filter details > summary"))
    page.keyboard.press("Enter")
    kind = page.locator(".list-filter select[name=type]")
    assert failures(page, "the open filters") == []
    tab_to(page, kind)
    kind.select_option("payin")
    tab_to(page, page.locator(".list-filter").get_by_role("button", name="Apply"))
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/ledger/\?type=payin"))
    expect(page.get_by_label("Active filters")).to_contain_text("Payin")
    tab_to(page, page.locator("#list-view > summary"))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_label("Save these filters as"))
    page.keyboard.type("What came in")
    page.keyboard.press("Enter")
    saved = page.get_by_role("navigation", name="Saved filters").get_by_role("link", name="What came in")
    expect(saved).to_have_attribute("aria-current", "true")
    page.get_by_role("link", name="Remove this filter").first.click()
    expect(page.get_by_label("Active filters")).to_have_count(0)
    tab_to(page, saved)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"\?.*type=payin"))
    expect(page.locator("#rows tbody tr").first).to_contain_text("Payin")


def test_rows_are_selected_counted_and_leave_as_a_file(visit):
    auditor = visit("auditor")
    page = auditor.open("/ledger/")
    bar = page.locator("#selection")
    expect(bar).to_be_hidden()
    first = page.locator("#rows tbody input[name=row]").first
    tab_to(page, first)
    page.keyboard.press("Space")
    expect(bar).to_contain_text("1 selected")
    every = page.get_by_role("checkbox", name="Select all on this page")
    assert every.evaluate("(one) => one.indeterminate")
    page.locator("#rows tbody input[name=row]").nth(1).check()
    expect(bar).to_contain_text("2 selected")
    assert complaints(page, "the bar of what is selected", judged=(1280, 360)) == []
    name, text = file_of(page, bar.get_by_role("button", name="Export CSV"))
    assert re.fullmatch(r"ledger_rows-[\d-]+_\d{8}T\d{6}Z\.csv", name)
    table = list(csv.DictReader(io.StringIO(text)))
    assert len(table) == 2
    assert "changed at (UTC)" in table[0]
    _, text = file_of(page, bar.get_by_role("button", name="Export JSON"))
    assert json.loads(text)["totals"]["count"] == 2
    every.check()
    expect(bar).to_contain_text(f"{page.locator('#rows tbody tr').count()} selected")
    bar.get_by_role("button", name="Clear").click()
    expect(bar).to_be_hidden()
    expect(every).not_to_be_checked()


def test_chosen_orders_are_cancelled_together(visit):
    operator = visit("operator")
    numbers = []
    for quantity in ("0.11", "0.12", "0.13"):
        page = operator.open("/orders/new/")
        page.get_by_label("Symbol", exact=True).select_option("ETHBTC")
        page.get_by_label("Quantity", exact=True).fill(quantity)
        page.locator("#id_price").fill("0.001")
        page.get_by_role("button", name=re.compile("^Place buy order")).click()
        page.wait_for_url(re.compile(r"/orders/\d+/$"))
        expect(operator.state()).to_have_text("Open")
        numbers.append(int(re.search(r"/orders/(\d+)/$", page.url)[1]))
    page = operator.open("/orders/")
    for number in numbers[:2]:
        page.get_by_role("checkbox", name=f"Select O-{number}", exact=True).check()
    expect(page.locator("#selection")).to_contain_text("2 selected")
    page.get_by_role("button", name="Cancel selected").click()
    expect(page.get_by_text("Cancel requested for 2 orders.")).to_be_visible()
    for number in numbers[:2]:
        operator.open(f"/orders/{number}/")
        expect(operator.state()).to_have_text("Cancelled")
    operator.open(f"/orders/{numbers[2]}/")
    expect(operator.state()).to_have_text("Open")
    page = operator.open("/orders/")
    page.get_by_role("button", name=f"Cancel O-{numbers[2]}", exact=True).click()
    operator.open(f"/orders/{numbers[2]}/")
    expect(operator.state()).to_have_text("Cancelled")


@pytest.mark.parametrize("path", ["/orders/fills/", "/deposits/", "/addresses/"])
def test_new_lists_look_as_all_do(visit, path):
    page = visit("auditor").open(path)
    assert complaints(page, path.strip("/").replace("/", "-")) == []
