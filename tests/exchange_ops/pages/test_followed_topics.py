"""Which part of a page is read again for which topic: what can change its figures is listed here, page by page."""

import re

import pytest

from desk import clock, topics
from exchange_ops.shared.models import Account
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db

EVERYWHERE = {
    "alarm": "incidents freezes",
    "count-action": "incidents people withdrawals transfers orders approvals freezes payees policy",
    "strip": "incidents",
}
FRAME = {*EVERYWHERE, "notices"}
# A reading of prices announces `market`, a stream or a loop that fails or recovers `system`.
FOLLOWED = {
    "/": {
        "work": "incidents people approvals withdrawals transfers orders freezes payees policy",
        "requests": "withdrawals transfers incidents",
        "balances": "balances:{0} portfolio:{0} market system",
        "allocation": "balances:{0} subaccounts margin market",
        "accounts": "balances:{0} subaccounts margin market system withdrawals freezes",
        "flows": "portfolio:{0}",
        "lines": "ledger:{0}",
        "wellbeing": "system incidents",
        "changes": "withdrawals transfers orders people policy freezes",
        "checks": "system incidents",
    },
    "/funds/BCH/": {
        "past": "portfolio:{0} balances:{0}",
        "holding": "balances:{0} withdrawals orders subaccounts margin market",
        "deposits": "ledger:{0} addresses:{0}",
        "lines": "ledger:{0}",
    },
    "/profit/": {"profits": "portfolio:{0} market margin orders"},
    "/action/": {"inbox": "incidents people approvals withdrawals transfers orders freezes payees policy threads"},
    "/approvals/": {"inbox": "incidents people approvals withdrawals transfers orders freezes payees policy threads"},
    "/withdrawals/": {"rows": "withdrawals", "totals": "withdrawals"},
    "/transfers/": {"rows": "transfers", "totals": "transfers"},
    "/deposits/": {"rows": "ledger:{}", "totals": "ledger:{}"},
    "/addresses/": {"rows": "ledger:{}", "totals": "ledger:{}"},
    "/orders/fills/": {"rows": "orders", "totals": "orders"},
    "/deliveries/": {"rows": "deliveries", "totals": "deliveries"},
    "/ledger/": {"age": "ledger:{} system", "rows": "ledger:{}", "totals": "ledger:{}"},
    "/funds/": {"holdings": "balances:{} withdrawals orders subaccounts margin market system"},
    "/orders/": {"age": "orders margin system", "rows": "orders", "totals": "orders"},
    "/margin/": {"age": "orders margin system", "rows": "margin market", "realised": "margin orders"},
    "/system/": {"followers": "system", "now": "system withdrawals"},
}


def parts_of(page):
    """The topics of each part, by its id, with the address that it is read again at."""
    tags = [tag for tag in re.findall(r"<[a-z]+ [^>]*>", page) if "data-follow=" in tag]
    found = [dict(re.findall(r'([a-z-]+)="([^"]*)"', tag)) for tag in tags]
    return {part["id"]: part for part in found}


@pytest.mark.parametrize("path", FOLLOWED)
def test_a_page_follows_what_can_change_it_and_each_part_answers_for_itself(signed_in, auditor, payable, path):
    client, account = signed_in(auditor), Account.objects.get()
    rows.entry(1, now=clock.now())
    parts = parts_of(client.get(path).content.decode())
    expected = EVERYWHERE | {part: followed.format(account.pk) for part, followed in FOLLOWED[path].items()}
    expected["notices"] = f"notifications:{auditor.pk}"
    assert {name: part["data-follow"] for name, part in parts.items()} == expected
    around = parts_of(client.get("/frame/").content.decode())
    assert set(around) == FRAME, "what stands around the page comes in one answer"
    for name, part in parts.items():
        assert all(topics.admits(auditor, topic) for topic in part["data-follow"].split()), part["data-follow"]
        address = f"/frame/?parts={name}" if name in FRAME else part["hx-get"]
        answer = client.get(address, headers={"HX-Request": "true", "HX-Target": name}).content.decode().strip()
        assert "<body" not in answer
        assert parts_of(answer)[name]["data-follow"] == part["data-follow"], "the part comes back as it was"
        assert name not in FRAME or set(parts_of(answer)) == {name}, "nothing is read that no hint was about"


@pytest.mark.parametrize("path", FOLLOWED)
def test_a_desk_without_an_account_follows_no_account(signed_in, auditor, path):
    parts = parts_of(signed_in(auditor).get(path).content.decode())
    assert not [part for part in parts.values() if ":" in part["data-follow"] and part["id"] != "notices"]
