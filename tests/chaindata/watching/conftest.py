"""A service of one watched address, whose transactions a test puts there."""

from typing import Any

import pytest

from chaindata.watching.models import WatchedAddress
from tests.chaindata.views import rows
from tests.chaindata.views.rows import NOW, OURS, THEIRS


class Ledger:
    """What the service says of addresses: transactions of ours, the newest first, ten a page."""

    def __init__(self) -> None:
        self.listed: list[dict[str, Any]] = []
        self.balance_sat = 0
        self.bulk = True
        self.calls: list[str] = []

    def came(self, number: int, *, height: int | None, spends: bool = False) -> str:
        """One more transaction: one coin to us, or half a coin of ours away; its id."""
        txid = rows.h(number, "e")
        changes: dict[str, Any] = {}
        if spends:
            spent = rows.details(txid)["vin"][0]
            spent |= {"value": 50_000_000, "cashAddress": OURS.cash_address, "legacyAddress": OURS.legacy_address}
            changes = {"vin": [spent], "vout": [rows.output(0, "0.49999774", rows.paying(THEIRS))]}
        self.listed.insert(0, rows.details(txid, height=height, **changes))
        return txid

    def respond(self, path: str, body: Any) -> Any:
        """Transactions and details of our address, in bulk or one by one."""
        name, _, query = path.partition("?")
        self.calls.append(path)
        if name in {"/address/transactions", "/address/details"} and not self.bulk:
            return 400, {"error": "Invalid BCH address."}
        page = int(body.get("page", 0)) if body else int(query.partition("page=")[2] or 0)
        kind = name.split("/")[2]
        found = self._transactions(page) if kind == "transactions" else self._details()
        return 200, [found] if body else found

    def _transactions(self, page: int) -> dict[str, Any]:
        return {
            "pagesTotal": max(1, -(-len(self.listed) // 10)),
            "txs": self.listed[10 * page : 10 * page + 10],
            "legacyAddress": OURS.legacy_address,
            "cashAddress": OURS.cash_address,
            "currentPage": page,
        }

    def _details(self) -> dict[str, Any]:
        amounts = ("balance", "totalReceived", "totalSent", "unconfirmedBalance")
        found: dict[str, Any] = dict.fromkeys(amounts, 0) | {f"{name}Sat": 0 for name in amounts}
        found |= {"balanceSat": self.balance_sat, "unconfirmedTxApperances": 0, "txApperances": len(self.listed)}
        found |= {"transactions": [], "legacyAddress": OURS.legacy_address, "cashAddress": OURS.cash_address}
        return found | {"currentPage": 0, "pagesTotal": 1}


@pytest.fixture
def ledger(service: Any, settings: Any) -> Ledger:
    """The service, with a chain that is 20 blocks high."""
    settings.CHAIN_NETWORKS = ("test", "regtest")
    found = Ledger()

    def respond(path: str, body: Any) -> tuple[int, bytes]:
        import json

        status, value = found.respond(path, body)
        return status, json.dumps(value).encode()

    service.respond = respond
    return found


@pytest.fixture
def watch(make_person: Any) -> Any:
    """Watch our address from block 20 on, as treasury."""
    from chaindata.watching import requests

    def watch(**changes: Any) -> WatchedAddress:
        rows.tip(20, at=NOW)
        words = {"address": OURS.cash_address, "title": "Vault", "purpose": "reserve", "note": ""}
        person = changes.pop("person", None) or make_person("treasury", username="keeper")
        return requests.watch(**words | changes, person=person, now=NOW)

    return watch
