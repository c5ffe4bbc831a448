"""Tokens, cash accounts and the tools of the chain in a real browser; a transaction is explained and sent once."""

import json
import re
import urllib.request

import pytest
from playwright.sync_api import expect

from chaindata.wire import transactions
from chaindata.wire.scripts import steps
from tests.chaindata import paying
from tests.e2e.looks import complaints
from tests.e2e.visitors import rows, until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(900),
    pytest.mark.thorough("what a transaction says and its sending are proven without a browser"),
]


def fetch(house, path):
    """What the chain-data service itself says."""
    with urllib.request.urlopen(f"{house.sandbox_url}/v2/{path}", timeout=20) as answer:
        return json.loads(answer.read())


def funded(house, key):
    """A transaction of the sandbox that pays the key 2 coins, and which output does."""
    txid = house.control("chain/pay", {"address": key.address.cash_address, "amount": "2"})["txid"]
    made = transactions.read(bytes.fromhex(fetch(house, f"rawtransactions/getRawTransaction/{txid}")))
    locked = steps.locking(key.address)
    return made, next(n for n, output in enumerate(made.outputs) if output.script == locked)


def sendings(house):
    """The raw transactions that the service was given."""
    calls = house.control("calls")["calls"]
    return [call for call in calls if call["operation"] in ("send_raw_transaction", "send_raw_transactions")]


def test_a_token_and_a_cash_account_are_found_and_proven(house, visit):
    reader = visit("auditor")
    page = reader.open("/chain/tokens/")
    page.get_by_role("link", name="HARB", exact=True).click()
    expect(page.locator("#genesis")).to_contain_text("The transaction hashes to the token ID.")
    expect(page.locator("#holders")).to_contain_text("Adds up")
    page.goto(f"{house.url}/chain/cash-accounts/")
    page.get_by_label("Account or address").fill("lantern#130")
    page.get_by_role("button", name="Look up").click()
    expect(page.locator("#account")).to_contain_text("No unique match")
    parted = page.locator("#registrations").get_by_role("link", name=re.compile(r"^Lantern#130\.\d+$"))
    expect(parted).to_be_visible()
    parted.click()
    expect(page.locator("#registrations")).to_contain_text("Matches the service")
    expect(page.locator("#registrations")).to_contain_text("In main chain")


def test_a_transaction_is_explained_then_sent_once_with_a_second_factor(house, visit):
    key, other = paying.key(8101), paying.key(8102)
    spent, n = funded(house, key)
    made = paying.signed(key, spent, n, [(199_990_000, steps.locking(other.address))])
    before = len(sendings(house))
    treasury = visit("treasury")
    page = treasury.open("/chain/tools/transaction/")
    page.get_by_label("Hexadecimal data").fill(made.raw.hex().upper())
    page.get_by_role("button", name="Decode transaction").click()
    send = page.get_by_role("button", name="Broadcast 1.99990000 BCH, fee 0.00010000")
    expect(send).to_be_visible()
    expect(page.locator("#effect")).to_contain_text("signature valid")
    expect(page.locator("#opinion")).to_contain_text("Agrees")
    found = complaints(page, "tools-transaction")
    assert len(sendings(house)) == before, "explaining sends nothing"

    send.click()
    expect(page.locator("#id_reason-wrong")).to_contain_text("Enter a reason for broadcasting this transaction.")
    expect(page.get_by_label("Hexadecimal data")).to_have_value(made.raw.hex())
    page.get_by_label("Reason").fill("As agreed with nobody")
    page.get_by_label("Code from your authenticator app").fill(treasury.codes.fresh())
    page.get_by_role("button", name=re.compile("^Broadcast 1.99990000 BCH")).click()
    page.wait_for_url(re.compile(r"/chain/tools/broadcasts/\d+/$"))
    treasury.mark()
    expect(treasury.state()).to_have_text("Sent")
    # A payout of another test may have had a block found in the meantime.
    expect(page.locator("#facts")).to_contain_text(re.compile("Unconfirmed|In a block"))
    house.control("chain/mine", {"blocks": 1})
    expect(page.locator("#facts")).to_contain_text("In a block")
    assert treasury.is_same_document(), "the page was never loaded again"
    assert len(sendings(house)) == before + 1
    until(lambda: fetch(house, f"transaction/details/{made.txid}")["confirmations"] >= 1)
    assert rows(house, "SELECT state, sends FROM chaindata_chainbroadcast WHERE txid = ?", made.txid) == [("sent", 1)]
    found += complaints(page, "broadcast")
    assert not found, "\n".join(found)
