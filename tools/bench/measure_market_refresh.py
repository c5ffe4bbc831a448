"""Refreshing 1,000 prices against the database's own bulk load: `python -m tools.bench.measure_market_refresh`.

On SQLite and on PostgreSQL, by the clock on the wall, since a server does its part of the work in another process. The
limit gets its rows as ready texts and writes all of them; ours begins with decimals and finds out what changed. Every
way writes symbols of its own, so that what one did is no work for the other.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import count, cycle
from typing import Any

from tools.bench.rounds import line, spend

SYMBOLS, TENTH, TRADES = 1_000, 100, 20_000
BATCHES = 12  # one for each round, and more
PRICES = ("ask", "bid", "last", "open", "low", "high", "volume", "volumeQuote")
TICKER_PATH = "/api/2/public/ticker"
BEGAN = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
_seconds = count(1)
Row = tuple[Any, ...]


def _later() -> datetime:
    return BEGAN + timedelta(seconds=next(_seconds))


def _price(place: int, number: int, changed: int) -> str:
    """A price that is another one in every answer for the first `changed` symbols, and always the same for the rest."""
    return f"0.05{place:04}{number + 1 if place < changed else 1:04}"


# The exchange --------------------------------------------------------------------------------------------------------


def serve(prefix: str, changed: int) -> None:
    """Give another answer to every request until the process is ended; prints the port first."""
    answers = cycle([_answer(prefix, number, changed) for number in range(7)])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            sock, _ = listener.accept()
            with sock, sock.makefile("rb") as lines:
                while lines.readline():
                    while lines.readline() not in {b"\r\n", b""}:
                        continue
                    sock.sendall(next(answers))


def _answer(prefix: str, number: int, changed: int) -> bytes:
    tickers = [
        dict.fromkeys(PRICES, _price(place, number, changed))
        | {"timestamp": "2026-11-20T10:11:12.345Z", "symbol": f"{prefix}{place:04}"}
        for place in range(SYMBOLS)
    ]
    body = json.dumps(tickers).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _exchange(stack: ExitStack, prefix: str, changed: int) -> str:
    """The address of a server in a process of its own, which ends with the stack."""
    code = f"from tools.bench.measure_market_refresh import serve; serve({prefix!r}, {changed})"
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    stack.callback(server.wait)
    stack.callback(server.kill)
    assert server.stdout is not None
    return f"http://127.0.0.1:{int(server.stdout.readline())}"


# Ways of writing -----------------------------------------------------------------------------------------------------


def _batches(prefix: str, changed: int) -> Iterator[list[Row]]:
    """The rows of one refresh after another, with decimals, as the records of an answer give them."""
    rows = []
    for number in range(BATCHES):
        read_at = _later()
        figures = [Decimal(_price(place, number, changed)) for place in range(SYMBOLS)]
        rows.append([(f"{prefix}{place:04}", *[one] * 8, BEGAN, read_at) for place, one in enumerate(figures)])
    return iter(rows)


def _texts(prefix: str) -> Iterator[list[Row]]:
    """The same rows as the database takes them."""
    return iter(
        [
            [(*map(str, row[:9]), *(f"{at:%Y-%m-%d %H:%M:%S}" for at in row[9:])) for row in rows]
            for rows in _batches(prefix, SYMBOLS)
        ]
    )


def _at_the_limit(rows: Sequence[Row], table: Any) -> None:
    """The statement alone, everything written: executemany on SQLite, COPY and one upsert on PostgreSQL."""
    from django.db import connection, transaction

    columns = ", ".join(table.names)
    changes = ", ".join(f"{name} = excluded.{name}" for name in table.names[1:])
    upsert = f"ON CONFLICT (symbol) DO UPDATE SET {changes}"
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            places = ", ".join(["%s"] * len(table.names))
            cursor.executemany(f"INSERT INTO {table.name} ({columns}) VALUES ({places}) {upsert}", rows)
            return
        cursor.execute(f"CREATE TEMPORARY TABLE limit_rows (LIKE {table.name}) ON COMMIT DROP")
        with cursor.copy(f"COPY limit_rows ({columns}) FROM STDIN") as copy:
            copy.write("".join(["\t".join(row) + "\n" for row in rows]))
        cursor.execute(f"INSERT INTO {table.name} ({columns}) SELECT {columns} FROM limit_rows {upsert}")


def _by_orm(model: Any, rows: Sequence[Row], names: Sequence[str], key: Sequence[str]) -> None:
    others = [name for name in names if name not in key]
    instances = [model(**dict(zip(names, row, strict=True))) for row in rows]
    model.objects.bulk_create(
        instances, update_conflicts=True, unique_fields=list(key), update_fields=others, batch_size=500
    )


# What is measured ----------------------------------------------------------------------------------------------------


def _print(what: str, ours_ms: float, peer: str, peer_ms: float, target: float) -> None:
    print(line(what=what, ours_ms=ours_ms, peer=peer, peer_ms=peer_ms, target=target), flush=True)


def _measure_writes(engine: str) -> None:
    from desk.rows import bulk
    from exchange_ops.market.models import Ticker

    table = bulk.table(Ticker)
    every, tenth, orm, ready = _batches("E", SYMBOLS), _batches("T", TENTH), _batches("O", SYMBOLS), _texts("L")
    limit_ms, every_ms, tenth_ms, orm_ms = spend(
        lambda: _at_the_limit(next(ready), table),
        lambda: table.keep(next(every)) and None,
        lambda: table.keep(next(tenth)) and None,
        lambda: _by_orm(Ticker, next(orm), table.names, ["symbol"]),
        pieces=1,
        watch=time.perf_counter,
    )
    limit = "executemany of ready texts" if engine == "SQLite" else "COPY and upsert of ready texts"
    rate = f"{SYMBOLS / every_ms * 1_000:,.0f} rows/s"
    _print(f"{engine}: write 1,000 changed prices, {rate}", every_ms, limit, limit_ms, 0.9)
    _print(f"{engine}: write 1,000 prices, 100 of them changed", tenth_ms, limit, limit_ms, 1.5)
    _print(f"{engine}: write 1,000 changed prices", every_ms, "bulk_create(update_conflicts)", orm_ms, 3)


def _measure_trades(engine: str) -> None:
    """A market that is read for the first time, many times over."""
    from desk.rows import bulk
    from exchange_ops.market.models import PublicTrade

    def batch(symbol: str) -> Iterator[list[Row]]:
        price = Decimal("0.0512345678")
        starts = range(0, BATCHES * TRADES, TRADES)
        return iter([[(symbol, at + n, price, price, "buy", BEGAN, BEGAN) for n in range(TRADES)] for at in starts])

    ours, orm, table = batch("OURS"), batch("ORM"), bulk.table(PublicTrade)
    ours_ms, orm_ms = spend(
        lambda: table.keep(next(ours)) and None,
        lambda: _by_orm(PublicTrade, next(orm), table.names, ["symbol", "trade_id"]),
        pieces=1,
        rounds=3,
        watch=time.perf_counter,
    )
    target = 4.5 if engine == "SQLite" else 3
    _print(f"{engine}: write {TRADES:,} new trades", ours_ms, "bulk_create(update_conflicts)", orm_ms, target)


def _measure_cycles(engine: str) -> None:
    """From the question to the rows: ours against requests, json, decimals and the framework's own upsert."""
    import requests

    from exchange_ops.client import ExchangeClient
    from exchange_ops.market import reference as market
    from exchange_ops.market.models import Ticker
    from wire.transport import Transport

    session = requests.Session()

    def naive(address: str) -> Callable[[], None]:
        def run() -> None:
            now = _later()
            tickers = session.get(address + TICKER_PATH).json()
            rows = [
                (one["symbol"], *(Decimal(one[name]) for name in PRICES), datetime.fromisoformat(one["timestamp"]), now)
                for one in tickers
            ]
            _by_orm(Ticker, rows, NAMES, ["symbol"])

        return run

    def ours(address: str) -> Callable[[], None]:
        client = ExchangeClient(Transport(base_url=address))
        return lambda: market.refresh_tickers(client=client, now=_later()) and None

    with ExitStack() as stack:
        addresses = [_exchange(stack, *exchange) for exchange in (("CN", SYMBOLS), ("CE", SYMBOLS), ("CT", TENTH))]
        naive_ms, every_ms, tenth_ms = spend(
            naive(addresses[0]), ours(addresses[1]), ours(addresses[2]), pieces=1, watch=time.perf_counter
        )
    peer = "requests, json, Decimal, bulk_create"
    _print(f"{engine}: read and keep 1,000 prices", every_ms, peer, naive_ms, 18)
    _print(f"{engine}: read and keep 1,000 prices, 100 changed", tenth_ms, peer, naive_ms, 45)


def _measure_telling(engine: str) -> None:
    """The list of 1,000 prices for programs, from the rows to the bytes."""
    from rest_framework.renderers import JSONRenderer

    from exchange_ops.market import api
    from exchange_ops.market.api import TICKER
    from exchange_ops.market.api_shapes import TickerOut
    from exchange_ops.market.models import Ticker

    rows = Ticker.objects.filter(symbol__startswith="E").order_by("symbol")
    ours_ms, peer_ms = spend(
        lambda: api.answer(api.row_texts(rows.all(), TICKER)) and None,
        lambda: JSONRenderer().render({"items": TickerOut(rows.all(), many=True).data}) and None,
        pieces=1,
        watch=time.perf_counter,
    )
    _print(f"{engine}: tell 1,000 prices to a program", ours_ms, "ModelSerializer and JSONRenderer", peer_ms, 15)


NAMES = ("symbol", "ask", "bid", "last", "open", "low", "high", "volume", "volume_quote", "timestamp", "read_at")


def measure(engine: str) -> None:
    """Print the lines of one engine; its database is empty and named by the environment."""
    os.environ |= {"REDIS_URL": "", "DEMO": "1", "LOG_LEVEL": "ERROR"}
    os.environ["DJANGO_SETTINGS_MODULE"] = "project.settings"
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    for take in (_measure_writes, _measure_trades, _measure_cycles, _measure_telling):
        take(engine)


def main() -> None:
    """Both engines, one after the other, each in a process and a folder of its own."""
    from tests import servers

    folder = servers.make_folder()
    try:
        _measure_in_child("SQLite", f"sqlite:///{folder / 'desk.sqlite3'}", str(folder))
        rows = folder / "postgres"
        rows.mkdir(mode=0o700)
        server = servers.Postgres(rows)
        try:
            _measure_in_child("PostgreSQL", server.url, str(folder))
        finally:
            server.stop()
    except servers.CannotServe as problem:
        print(f"PostgreSQL was not measured: {problem}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measure_in_child(engine: str, address: str, folder: str) -> None:
    code = f"from tools.bench.measure_market_refresh import measure; measure({engine!r})"
    changes = {"DATABASE_URL": address, "DATA_DIR": folder}
    subprocess.run([sys.executable, "-c", code], env={**os.environ, **changes}, check=True)


if __name__ == "__main__":
    main()
