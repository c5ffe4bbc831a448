"""The chain in a real browser: blocks appear by themselves, pages lead to each other, a service away is said so."""

import re
import urllib.request

import pytest
from playwright.sync_api import expect

from chaindata.wire.addresses import Address, Kind, Network
from tests.bounds import stretched
from tests.e2e.visitors import Visitor, rows, until
from tests.houses import RunningHouse

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(900),
    pytest.mark.thorough("the pages are looked at always, and what they say is proven by views"),
]

PAID = Address(Network.TEST, Kind.KEY, bytes(range(7, 27)))
# As the pages show it: in the form of the chain that they follow.
ADDRESS = Address(Network.REGTEST, Kind.KEY, PAID.hash)
DETAILS = ("get_transaction_details", "get_details_of_transactions")


def mined(house: RunningHouse) -> int:
    """Have a block found; its height."""
    return int(house.control("chain/mine", {"blocks": 1})["tip"]["height"])


def paid(house: RunningHouse, amount: str) -> str:
    """Have our address paid; the transaction."""
    return str(house.control("chain/pay", {"address": PAID.cash_address, "amount": amount})["txid"])


def forget_faults(house: RunningHouse) -> None:
    """Let the service answer again."""
    urllib.request.urlopen(urllib.request.Request(f"{house.sandbox_url}/_sandbox/faults", method="DELETE"), timeout=10)


def test_a_block_appears_by_itself_and_leads_to_its_transactions_and_addresses(house, visit):
    reader: Visitor = visit("auditor")
    page = reader.open("/chain/")
    expect(page.locator("#blocks [data-row-link]").first).to_be_visible()
    page.evaluate("window.mark = 'here'")
    txid = paid(house, "0.25")
    height = mined(house)
    # Blocks come by themselves meanwhile: the newest may be a later one.
    later = "|".join(str(height + more) for more in range(20))
    expect(page.locator("#tip")).to_contain_text(re.compile(f"Block ({later})"))
    block = page.locator("#blocks").get_by_role("link", name=str(height), exact=True)
    expect(block).to_be_visible()
    assert reader.is_same_document()
    block.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Block {height}")
    page.locator(f"#members a[href='/chain/tx/{txid}/']").click()
    expect(page.locator("#facts .chip").first).to_have_text("In a block")
    page.locator("#sides").get_by_role("link", name=re.compile("^bchreg:.*" + ADDRESS.cash_address[-6:])).click()
    expect(page.locator("#balance")).to_contain_text("0.2500")
    expect(page.locator(f"#transactions a[href='/chain/tx/{txid}/']")).to_be_visible()

    page.get_by_role("searchbox").fill(txid.upper())
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(f"/chain/tx/{txid}/$"))
    page.get_by_role("searchbox").fill(PAID.legacy_address)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/chain/address/(bchtest|bchreg):"))


def test_a_page_opens_while_the_service_is_away_and_fills_in_when_it_is_back(house, visit):
    reader: Visitor = visit("auditor")
    txid = paid(house, "0.5")
    for operation in DETAILS:
        house.control("faults", {"operation": operation, "kind": "status", "status": 500, "times": 1000})
    try:
        page = reader.open(f"/chain/tx/{txid}/")
        expect(page.get_by_role("heading", level=1)).to_have_text("Transaction")
        expect(page.locator("#facts")).to_contain_text("Retrying automatically.")
    finally:
        forget_faults(house)
    mined(house)
    expect(page.locator("#facts .chip").first).to_have_text("In a block")
    expect(page.locator("#sides")).to_contain_text("0.5000")


def test_a_movement_of_a_watched_address_needs_action_until_somebody_reviews_it(house, visit):
    """From the address's page to the alarm and its end, with a mouse, without reading any page anew."""
    treasury: Visitor = visit("treasury")
    kept = Address(Network.REGTEST, Kind.KEY, bytes(range(40, 60))).cash_address
    page = treasury.open(f"/chain/address/{kept}/")
    page.get_by_role("link", name="Watch this address").click()
    expect(page.get_by_label("Address", exact=True)).to_have_value(kept)
    page.get_by_label("Name").fill("Vault in a browser")
    # Without the tip as of now nobody knows from which block on to watch; a house that has just begun has not read it.
    until(lambda: rows(house, "SELECT 1 FROM chaindata_chaintip WHERE read_at > datetime('now', '-10 seconds')"))
    page.get_by_role("button", name="Watch address").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Vault in a browser")
    page.evaluate("window.mark = 'here'")
    txid = str(house.control("chain/pay", {"address": kept, "amount": "0.75"})["txid"])
    mined(house)
    expect(page.locator(f"#movements a[href='/chain/tx/{txid}/']")).to_be_visible(timeout=stretched(90_000))
    assert treasury.is_same_document()

    page.goto(f"{house.url}/action/")
    entry = page.get_by_text("paid 0.7500 BCH to the watched address Vault in a browser")
    expect(entry).to_be_visible()
    page.go_back()
    page.locator("#movements summary", has_text="Review").click()
    page.locator("#movements textarea").fill("Topped up as planned.")
    page.get_by_role("button", name="Mark as reviewed").click()
    expect(page.locator("#movements")).to_contain_text("Topped up as planned.")
    page.goto(f"{house.url}/action/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Needs action")
    expect(entry).to_have_count(0)
