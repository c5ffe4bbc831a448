"""How many of our files a newcomer walks through with one call, from the application's door to its answer.

Counted are the files in which a function is entered while the call is served, in a world that nothing else moves.
"""

import asyncio
import base64
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from sandbox.exchange.accounts import address_forms
from sandbox.in_process import InProcessSandbox

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = {"chaindata", "exchange_ops", "sandbox", "wire"}
HEADERS = [
    (b"authorization", b"Basic " + base64.b64encode(b"demo-full:demo-full-secret")),
    (b"content-type", b"application/x-www-form-urlencoded"),
]
ORDER = "symbol=ETHBTC&side=sell&quantity=0.063&price=0.9"
PAYOUT = f"currency=BTC&amount=0.1&autoCommit=false&address={address_forms.make('bitcoin', 'somebody')}"


def files_of(box: InProcessSandbox, method: str, path: str, form: str) -> set[str]:
    """The files of one call, which has to go well."""
    entered, sent = set(), []

    def note(frame: FrameType, event: str, _: object) -> None:
        entered.add(frame.f_code.co_filename)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": form.encode()}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def serve() -> None:
        scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b""}
        sys.setprofile(note)
        try:
            await box._server.sandbox(scope | {"headers": HEADERS}, receive, send)
        finally:
            sys.setprofile(None)

    assert box._loop is not None
    asyncio.run_coroutine_threadsafe(serve(), box._loop).result(60)
    assert sent[0]["status"] == 200, sent
    files = {Path(name).relative_to(ROOT) for name in entered if Path(name).is_relative_to(ROOT)}
    return {str(file) for file in files if file.parts[0] in PACKAGES}


@pytest.mark.parametrize(
    ("method", "path", "form", "most"),
    [
        ("GET", "/api/2/account/balance", "", 18),
        ("GET", "/api/2/public/ticker", "", 18),
        ("GET", "/v2/blockchain/getBlockCount", "", 18),
        ("POST", "/api/2/account/crypto/withdraw", PAYOUT, 24),  # with the journal, the ledger and the funds
        ("POST", "/api/2/order", ORDER, 28),  # with the journal, the ledger, the books and the market
    ],
)
def test_a_call_is_served_within_few_files(method: str, path: str, form: str, most: int) -> None:
    with InProcessSandbox(seed=1, still=True) as box:
        box.control("clock", {"frozen": True})
        files_of(box, method, path, form)  # what is only made once
        files = files_of(box, method, path, form)
    assert len(files) <= most, sorted(files)
