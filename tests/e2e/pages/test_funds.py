"""Funds, addresses and transfers in a real browser, with the exchange's own books read beside the pages."""

import base64
import json
import re
import urllib.request
from decimal import Decimal

import pytest
from playwright.sync_api import expect

from tests.e2e.looks import complaints
from tests.e2e.visitors import rows, until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(900),
    pytest.mark.thorough("the machine of transfers is proven by the domain; the pages are looked at always"),
]
MOVES = ("transfer_funds", "convert_currency", "transfer_to_user")


def at_exchange(house, question):
    """What the exchange itself says, with a key of its own."""
    key = base64.b64encode(b"demo-read:demo-read-secret").decode()
    request = urllib.request.Request(f"{house.sandbox_url}/api/2/{question}", headers={"Authorization": f"Basic {key}"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.loads(answer.read())


def available(house, wallet, code):
    """What a wallet holds at the exchange, free to move."""
    question = "account/balance" if wallet == "bank" else "trading/balance"
    return next(Decimal(line["available"]) for line in at_exchange(house, question) if line["currency"] == code)


def executed(house, *operations):
    """How many calls of these the exchange carried out so far."""
    return [
        call["operation"]
        for call in house.control("calls")["calls"]
        if call["operation"] in operations and call["executed"]
    ]


def ask(visitor, slug, *, button, **fields):
    """Fill in the form of a kind and send it; the number of the transfer, whose page is open afterwards."""
    page = visitor.open(f"/transfers/new/{slug}/")
    for label, value in fields.items():
        named = page.get_by_label(label.replace("_", " "), exact=True)
        named.select_option(value) if named.evaluate("one => one.tagName") == "SELECT" else named.fill(value)
    page.get_by_role("button", name=button).click()
    page.wait_for_url(re.compile(r"/transfers/\d+/$"))
    return int(page.url.rstrip("/").rpartition("/")[2])


def test_money_moves_from_bank_to_trading_while_the_page_stays_open(house, visit):
    operator, before = visit("operator"), len(executed(house, *MOVES))
    bank, trading = available(house, "bank", "LTC"), available(house, "trading", "LTC")
    page = operator.open("/funds/")
    page.get_by_role("link", name="Transfer LTC").click()
    expect(page.get_by_label("Currency")).to_have_value("LTC")
    page.get_by_label("Amount", exact=True).fill("1.25")
    expect(page.locator("#figures")).to_contain_text("Remaining")
    page.get_by_role("textbox", name="Reason").fill("For the orders of tomorrow")
    found = complaints(page, "transfer-new")
    page.get_by_role("button", name="Transfer funds").click()
    page.wait_for_url(re.compile(r"/transfers/\d+/$"))
    operator.mark()
    expect(operator.state()).to_have_text("Moved")
    expect(page.locator("#story")).to_contain_text("Listed in the ledger")
    assert operator.is_same_document(), "the page was never loaded again"
    assert available(house, "bank", "LTC") == bank - Decimal("1.25")
    assert available(house, "trading", "LTC") == trading + Decimal("1.25")
    assert executed(house, *MOVES)[before:] == ["transfer_funds"]
    operator.open("/funds/?text=LTC")
    expect(page.locator(".funds")).to_contain_text(f"{trading + Decimal('1.25'):,.4f}")
    found += complaints(page, "transfers") if operator.open("/transfers/") else []
    assert not found, "\n".join(found)


def test_a_conversion_into_the_form_of_another_network(house, visit):
    operator = visit("operator")
    before = available(house, "bank", "USD"), available(house, "bank", "USDT20")
    ask(
        operator,
        "convert",
        button="Convert",
        Currency="USDT20",
        Amount="12.5",
        Convert_to="USD",
        Reason="To pay in USD",
    )
    expect(operator.state()).to_have_text("Moved")
    expect(operator.page.locator("#facts")).to_contain_text("Convert to")
    after = available(house, "bank", "USD"), available(house, "bank", "USDT20")
    assert after == (before[0] + Decimal("12.5"), before[1] - Decimal("12.5"))
    assert house.control("ledger")["balanced"]


def test_what_is_wrong_stands_beside_its_field_and_nothing_leaves(house, visit):
    operator, before = visit("operator"), len(executed(house, *MOVES))
    page = operator.open("/transfers/new/move/")
    page.get_by_label("Currency").select_option("BTC")
    page.get_by_label("Amount", exact=True).fill("1e3")
    page.get_by_role("textbox", name="Reason").fill("A slip of the finger")
    page.get_by_role("button", name="Transfer funds").click()
    expect(page.locator("#id_amount-wrong")).to_contain_text("digits")
    expect(page.locator("#wrong")).to_contain_text("Transfer not requested")
    expect(page.get_by_label("Amount", exact=True)).to_have_value("1e3")
    assert len(executed(house, *MOVES)) == before


def test_an_address_with_its_code_and_a_new_one(house, visit):
    operator = visit("operator")
    page = operator.open("/funds/DOGE/deposit/")
    address = at_exchange(house, "account/crypto/address/DOGE")["address"]
    printed = page.locator(".pay-in .read-address .address")
    expect(printed).to_be_visible()
    assert "".join(printed.inner_text().split()) == address
    expect(page.locator("svg.qr")).to_be_visible()
    assert page.locator("svg.qr").evaluate("one => one.getBoundingClientRect().width") > 120
    expect(page.locator(".pay-in")).to_contain_text("none")
    found = complaints(page, "deposit")
    operator.mark()
    page.get_by_role("button", name="Request a new DOGE address").click()
    expect(page.locator("#addresses")).to_contain_text("New address created")
    expect(page.locator("#addresses")).to_contain_text("4 of 5 left (24-hour limit)")
    new = at_exchange(house, "account/crypto/address/DOGE")["address"]
    assert new != address
    until(lambda: "".join(printed.inner_text().split()) == new)
    expect(page.locator("table.addresses")).to_contain_text(re.sub(r"(.{4})", r"\1", address)[:4])
    assert executed(house, "create_deposit_address").count("create_deposit_address") == 1
    found += complaints(page, "deposit-new")
    assert not found, "\n".join(found)


def test_a_transfer_to_somebody_else_waits_for_treasury(house, visit):
    operator, treasury, before = visit("operator"), visit("treasury"), len(executed(house, *MOVES))
    bank = available(house, "bank", "ETH")
    treasury.open("/approvals/")
    treasury.mark()
    number = ask(
        operator,
        "to-user",
        button="Request transfer",
        Identify_the_other_user_by="username",
        **{"E-mail address or username": "other"},
        Currency="ETH",
        Amount="0.5",
        Reason="A gift as agreed",
    )
    operator.mark()
    expect(operator.state()).to_have_text("Waiting for approvals")
    expect(operator.page.locator("#decide")).to_contain_text("You requested this transfer")
    assert len(executed(house, *MOVES)) == before, "nothing leaves without an approval"
    entry = treasury.page.locator("#inbox .entry", has_text="A gift as agreed").locator(".e-title")
    expect(entry).to_be_visible()
    assert treasury.is_same_document(), "the inbox filled by itself"
    found = complaints(treasury.page, "inbox")
    entry.click()
    found += complaints(treasury.page, "transfer-review")
    treasury.page.get_by_label("Code from your authenticator app").fill(treasury.codes.fresh())
    treasury.page.get_by_role("button", name="Approve and send 0.5000 ETH", exact=True).click()
    expect(operator.state()).to_have_text("Moved")
    assert operator.is_same_document()
    assert available(house, "bank", "ETH") == bank - Decimal("0.5")
    assert executed(house, *MOVES)[before:] == ["transfer_to_user"]
    assert rows(house, "SELECT COUNT(*) FROM exchange_ops_transferapproval WHERE transfer_id = ?", number) == [(1,)]
    found += complaints(operator.page, "transfer-done")
    assert not found, "\n".join(found)


def test_an_auditor_looks_and_changes_nothing(house, visit):
    operator, auditor = visit("operator"), visit("auditor")
    number = ask(
        operator,
        "to-user",
        button="Request transfer",
        Identify_the_other_user_by="username",
        **{"E-mail address or username": "other"},
        Currency="ETH",
        Amount="0.25",
        Reason="Waits for nobody here",
    )
    before = len(executed(house, *MOVES, "create_deposit_address"))
    count = rows(house, "SELECT COUNT(*) FROM exchange_ops_transfer")
    found = []
    for path in ("/funds/", "/funds/BTC/deposit/", "/transfers/", f"/transfers/{number}/"):
        page = auditor.open(path)
        expect(
            page.get_by_role("link", name=re.compile("^(Transfer [A-Z]|Convert|New transfer)"), disabled=False)
        ).to_have_count(0)
        expect(page.get_by_role("button", name=re.compile("^(Ask|Approve|Reject|Take|Read it)"))).to_have_count(0)
        found += complaints(page, f"auditor{path.replace('/', '-')}")
    digest = rows(house, "SELECT digest FROM exchange_ops_transfer WHERE id = ?", number)[0][0]
    key = "5d3f1a0e-7f53-4a7a-9d4e-1f2a3b4c5d6e"
    fields = {"kind": "bank_to_trading", "currency": "BTC", "amount": "1", "reason": "Mine", "request_key": key}
    assert auditor.post_by_hand("/transfers/new/move/", **fields)[0] == 403
    assert auditor.post_by_hand("/funds/BTC/deposit/new/", request_key=key)[0] == 403
    status, text = auditor.post_by_hand(f"/transfers/{number}/approve/", digest=digest, code=auditor.codes.fresh())
    assert (status, "Your decision was not recorded" in text) == (409, True)
    assert rows(house, "SELECT COUNT(*) FROM exchange_ops_transfer") == count
    assert rows(house, "SELECT state FROM exchange_ops_transfer WHERE id = ?", number) == [("review",)]
    assert len(executed(house, *MOVES, "create_deposit_address")) == before
    assert not found, "\n".join(found)
