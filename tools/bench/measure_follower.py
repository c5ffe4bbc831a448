"""Messages a second of the account's follower against a bare receive loop of its own library, and how soon it is back:
`python -m tools.bench.measure_follower`.

The exchange is a process that has its frames ready. The limit reads as many of them and does nothing with them, not
even decoding, and a follower that stores nothing is held against it; one that stores everything is held against a loop
that decodes and makes the same two rows of each by the framework, and looks for nothing. Back is a follower, at the
product's own pace, when it is live and has the transactions that happened since.
"""

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

from tools.bench.rounds import line, spend

MESSAGES = 1_000
WAYS, ROUNDS = 4, 3
AWAY_S, MISSED = (1, 6, 12), 20
PATIENCE_S = 60


# The exchange --------------------------------------------------------------------------------------------------------


def serve() -> None:
    """Answer every request of an account session, then tell MESSAGES transactions; prints the port first."""
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.server import serve as serve_sockets

    starts = range(1, WAYS * (ROUNDS + 1) * MESSAGES, MESSAGES)
    ready = [b"".join(_frame(number) for number in range(first, first + MESSAGES)) for first in starts]

    def served(connection: Any) -> None:
        with suppress(ConnectionClosed):
            talk(connection)

    def talk(connection: Any) -> None:
        for text in connection:
            call = json.loads(text)
            if "id" in call:
                result: object = [] if call["method"] in {"loadTransactions", "getBalance"} else True
                connection.send(json.dumps({"jsonrpc": "2.0", "result": result, "id": call["id"]}))
            if call["method"] in {"getBalance", "tell"}:
                connection.socket.sendall(ready.pop())

    with serve_sockets(served, "127.0.0.1", 0, compression=None) as server:
        print(server.socket.getsockname()[1], flush=True)
        server.serve_forever()


def _frame(number: int) -> bytes:
    """A notification as it goes over the wire, from the server: a text frame without a mask."""
    text = json.dumps(
        {
            "jsonrpc": "2.0",
            "method": "updateTransaction",
            "params": {
                "id": f"6a2fb54d-7466-490c-b3a6-95d8c882f{number:08}",
                "index": number,
                "type": "bankToExchange",
                "status": "success",
                "currency": "BTC",
                "amount": "0.00001000",
                "createdAt": "2026-11-21T10:00:00.000Z",
                "updatedAt": "2026-11-21T10:00:00.000Z",
            },
        }
    ).encode()
    return b"\x81\x7e" + len(text).to_bytes(2, "big") + text


def _started(stack: ExitStack, words: list[str]) -> Any:
    """A process that ends with the stack, and its first line."""
    server = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True)
    stack.callback(server.wait)
    stack.callback(server.kill)
    return server


# Messages a second ---------------------------------------------------------------------------------------------------


def _bare(url: str, take: Callable[[Any], object] = len) -> Callable[[], None]:
    import websocket

    def run() -> None:
        connection = websocket.create_connection(url, http_no_proxy=["*"])
        connection.send(json.dumps({"method": "tell"}))
        for _ in range(MESSAGES):
            take(connection.recv())
        connection.close()

    return run


def _make_rows(text: str) -> None:
    from decimal import Decimal

    from desk import clock
    from exchange_ops.ledger.models import LedgerEntry, LedgerVersion
    from exchange_ops.shared.models import Account

    params, now = json.loads(text)["params"], clock.now()
    stored = {name: params[name] for name in ("index", "type", "status", "currency")}
    times = {"created_at": params["createdAt"], "updated_at": params["updatedAt"], "first_seen_at": now, "seen_at": now}
    account_id = Account.objects.values_list("pk", flat=True).get()
    entry = LedgerEntry.objects.create(
        account_id=account_id, exchange_id=params["id"], amount=Decimal(params["amount"]), **stored, **times
    )
    LedgerVersion.objects.create(
        account_id=account_id,
        entry=entry,
        index=params["index"],
        status=params["status"],
        content=params,
        source="stream",
        seen_at=now,
    )


def _following(base_url: str, *, storing: bool) -> Callable[[], None]:
    """A follower from its start until it took all messages."""
    from desk import clock
    from exchange_ops.followers import AccountFollower
    from exchange_ops.shared.models import Account
    from exchange_ops.wire.session import Transactions

    class Counting(AccountFollower):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.taken, self.done = 0, threading.Event()

        def _store(self, event: Any, talk: Any) -> None:
            if storing or not isinstance(event, Transactions):
                super()._store(event, talk)
            if isinstance(event, Transactions):
                self.taken += len(event.records)
            if self.taken >= MESSAGES:
                self.done.set()

    def run() -> None:
        follower = Counting(Account.objects.get(), base_url=base_url, now=clock.now)
        follower.start()
        if not follower.done.wait(PATIENCE_S):
            raise SystemExit("The follower did not take all messages; nothing was measured.")
        follower.stop()
        follower.join()

    return run


def measure_messages(engine: str) -> None:
    """Print the lines of one engine; its database is empty and named by the environment."""
    _prepare()
    with ExitStack() as stack:
        server = _started(stack, ["-c", "from tools.bench.measure_follower import serve; serve()"])
        base_url = f"ws://127.0.0.1:{int(server.stdout.readline())}"
        bare_ms, heard_ms, naive_ms, stored_ms = spend(
            _bare(base_url),
            _following(base_url, storing=False),
            _bare(base_url, _make_rows),
            _following(base_url, storing=True),
            pieces=MESSAGES,
            rounds=ROUNDS,
            watch=time.perf_counter,
        )
    _print(f"{engine}: hear", heard_ms, "bare websocket-client loop", bare_ms, 0.3)
    # Ours asks what is known already and whose the transaction is, and commits each by itself: thrice the statements.
    _print(f"{engine}: store", stored_ms, "bare loop, json, two inserts", naive_ms, 0.15)


def _print(what: str, ours_ms: float, peer: str, peer_ms: float, target: float) -> None:
    ours, theirs = f"{what} {1_000 / ours_ms:,.0f} messages/s", f"{peer} ({1_000 / peer_ms:,.0f}/s)"
    print(line(what=ours, ours_ms=ours_ms, peer=theirs, peer_ms=peer_ms, target=target), flush=True)


def _prepare() -> None:
    """An empty database becomes a desk with the keys of the sandbox."""
    os.environ |= {"REDIS_URL": "", "DEMO": "1", "LOG_LEVEL": "ERROR"}
    os.environ["DJANGO_SETTINGS_MODULE"] = "project.settings"
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)

    from desk import clock
    from exchange_ops.keys import store as keys
    from exchange_ops.shared.models import Account
    from exchange_ops.wire.catalogue import Right
    from wire.values import Secret

    account = Account.objects.create(name="Measured", quote_currency="USD")
    keys.add(
        account=account,
        label="read",
        login="demo-read",
        secret=Secret("demo-read-secret"),
        rights=[Right.HISTORY, Right.PAYMENTS],
        actor=None,
        now=clock.now(),
    )


# Back after a restart ------------------------------------------------------------------------------------------------


def measure_return(folder: str) -> None:
    """Print how long after a restart of the sandbox the follower had caught up: from its first answer on."""
    _prepare()
    from desk import clock
    from exchange_ops.followers import AccountFollower
    from exchange_ops.ledger.models import LedgerEntry
    from exchange_ops.shared.models import Account, FollowerState

    account = Account.objects.get()

    def has(entry_ids: list[str]) -> bool:
        live = FollowerState.objects.filter(name=f"stream:{account.pk}", connected=True).exists()
        return live and LedgerEntry.objects.filter(exchange_id__in=entry_ids).count() == len(entry_ids)

    with ExitStack() as stack:
        port = _free_port()
        exchange = _sandbox(stack, folder, port)
        follower = AccountFollower(account, base_url=f"ws://127.0.0.1:{port}", now=clock.now)
        follower.start()
        stack.callback(follower.join)
        stack.callback(follower.stop)
        _until(lambda: has([]))
        spent = []
        for away_s in AWAY_S:
            exchange.send_signal(signal.SIGTERM)
            exchange.wait()
            time.sleep(away_s)  # what is measured is how far the pauses have grown by then
            exchange = _sandbox(stack, folder, port)
            began = time.perf_counter()
            entry_ids = [_deposit(port) for _ in range(MISSED)]
            _until(partial(has, entry_ids))
            spent.append(time.perf_counter() - began)
    listed = ", ".join(f"{one:.1f} s after {away} s" for one, away in zip(spent, AWAY_S, strict=True))
    verdict = "holds" if max(spent) < 5 else "MISSED"
    print(f"caught up after a restart: {listed}; median {statistics.median(spent):.1f} s (target 5 s: {verdict})")


def _sandbox(stack: ExitStack, folder: str, port: int) -> Any:
    """A sandbox that answers already."""
    words = ["-m", "sandbox", "--port", str(port), "--data-dir", f"{folder}/sandbox", "--still"]
    server = _started(stack, words)
    _until(lambda: _answers(port))
    return server


def _answers(port: int) -> bool:
    with suppress(OSError):
        return bool(_control(port, "state", None))
    return False


def _deposit(port: int) -> str:
    return str(_control(port, "deposit", {"currency": "USD", "amount": "1"})["id"])


def _control(port: int, path: str, order: object) -> Any:
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        body = None if order is None else json.dumps(order)
        connection.request("GET" if body is None else "POST", f"/_sandbox/{path}", body)
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def _free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _until(holds: Callable[[], bool]) -> None:
    ends = time.perf_counter() + PATIENCE_S
    while not holds():
        if time.perf_counter() > ends:
            raise SystemExit("It took more than a minute; nothing was measured.")
        time.sleep(0.02)


# All of it -----------------------------------------------------------------------------------------------------------


def _databases(folder: Path, stack: ExitStack) -> Iterator[tuple[str, str]]:
    from tests import servers

    yield "SQLite", f"sqlite:///{folder / 'messages.sqlite3'}"
    rows = folder / "postgres"
    rows.mkdir(mode=0o700)
    try:
        server = servers.Postgres(rows)
    except servers.CannotServe as problem:
        print(f"PostgreSQL was not measured: {problem}")
        return
    stack.callback(server.stop)
    yield "PostgreSQL", server.url


def _in_child(call: str, address: str, folder: Path) -> None:
    code = f"from tools.bench import measure_follower; measure_follower.{call}"
    changes = {"DATABASE_URL": address, "DATA_DIR": str(folder)}
    subprocess.run([sys.executable, "-c", code], env={**os.environ, **changes}, check=True)


def main() -> None:
    """Both engines and the restarts, one after the other, each in a process and a database of its own."""
    from tests import servers

    folder = servers.make_folder()
    try:
        with ExitStack() as stack:
            for engine, address in _databases(folder, stack):
                _in_child(f"measure_messages({engine!r})", address, folder)
        _in_child(f"measure_return({str(folder)!r})", f"sqlite:///{folder / 'return.sqlite3'}", folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
