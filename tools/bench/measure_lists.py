"""What a list of 100,000 rows costs as a page and as a file: `python -m tools.bench.measure_lists`.

The ledger's list on PostgreSQL, of one account, a fifth of the lines with their withdrawal. The peer of a file is the
standard library over the same columns of the same rows: a cursor of psycopg with a name, and csv.writer or json.dumps
for each of its rows, with no zone, no sum and no safe cell. The peer of a page is the statement that reads its rows.
Wall clock, as one who waits for the file counts it.
"""

import csv
import io
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from tests import servers

ROWS = int(os.environ.get("ROWS", "100000"))
ROUNDS = 3
TARGETS = {"csv": 2.5, "json": 2.0}  # how many times as long as its peer a file may take
PLAIN = """SELECT e.index, e.exchange_id, a.name, e.type, e.sub_type, e.status, e.currency, e.amount, e.fee, e.address,
    e.payment_id, e.hash, e.confirmations, e.withdrawal_id, e.transfer_id, e.foreign, e.error_code, e.created_at,
    e.updated_at FROM exchange_ops_ledgerentry e JOIN exchange_ops_account a ON a.id = e.account_id
    ORDER BY e.index DESC"""
FILL = """INSERT INTO exchange_ops_ledgerentry (account_id, exchange_id, index, type, sub_type, status, currency,
    amount, fee, address, payment_id, hash, confirmations, public_comment, error_code, senders, offchain_id, created_at,
    updated_at, first_seen_at, seen_at, "foreign", withdrawal_id)
    SELECT %s, 'tx-' || n, n, CASE n %% 3 WHEN 0 THEN 'payout' WHEN 1 THEN 'payin' ELSE 'transfer' END, 'blockchain',
    'success', CASE n %% 2 WHEN 0 THEN 'BCH' ELSE 'USD' END, n * 0.00012345, CASE n %% 2 WHEN 0 THEN 0.0001 END,
    'qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a', '', md5(n::text) || md5(n::text), n %% 9, '', '', '[]', '[]',
    now() - n * interval '1 minute', now() - n * interval '1 minute', now(), now(), false,
    CASE n %% 5 WHEN 0 THEN %s END FROM generate_series(1, %s) n"""


def fill() -> Any:
    """The account's ledger, and an auditor who reads it."""
    from django.contrib.auth.models import Group
    from django.db import connection

    from desk import clock
    from desk.models import Person
    from tests.exchange_ops import rows

    now = clock.now()
    account = rows.account(now=now)
    rows.currency(now=now)
    rows.price(now=now)
    rows.balance(now=now)
    person = Person.objects.create(username="reader")
    person.groups.add(Group.objects.get_or_create(name="auditor")[0])
    person.groups.add(Group.objects.get_or_create(name="operator")[0])
    withdrawal = rows.requested(person, now=now)
    with connection.cursor() as cursor:
        cursor.execute(FILL, [account.pk, withdrawal.pk, ROWS])
        cursor.execute("ANALYZE")
    return person


def ours(client: Any, path: str) -> Callable[[], int]:
    """The file or page as the desk makes it; how many bytes it has."""

    def read() -> int:
        answer = client.get(path)
        if answer.status_code != 200:
            raise SystemExit(f"{path} answered {answer.status_code}; nothing was measured.")
        return len(b"".join(answer) if answer.streaming else answer.content)

    return read


def peer(kind: str) -> Callable[[], int]:
    """The same rows as they stand, by the standard library alone; how many bytes that makes."""
    from django.db import connection, transaction

    def read() -> int:
        written = io.StringIO()
        table = csv.writer(written)
        with transaction.atomic(), closing(connection.connection.cursor("peer")) as cursor:
            cursor.itersize = 2_000
            cursor.execute(PLAIN)
            for row in cursor:
                if kind == "csv":
                    table.writerow(row)
                else:
                    written.write(json.dumps(dict(enumerate(row)), default=str) + "\n")
        return len(written.getvalue().encode())

    return read


def statement(client: Any, path: str) -> Callable[[], int]:
    """The statement alone that reads the rows of a page; how many there are."""
    from django.db import connection

    client.get(path)
    sql = "SELECT * FROM exchange_ops_ledgerentry ORDER BY index DESC LIMIT 51"

    def read() -> int:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return len(cursor.fetchall())

    return read


def seconds(*ways: Callable[[], int]) -> list[float]:
    """The median of each way, measured in turns, after one turn that isn't counted."""
    spent: list[list[float]] = [[] for _ in ways]
    for number in range(ROUNDS + 1):
        for place, way in enumerate(ways):
            began = time.perf_counter()
            way()
            if number:
                spent[place].append(time.perf_counter() - began)
    return [statistics.median(times) for times in spent]


def measure() -> None:
    """Fill, and print a line for the page and one for each file."""
    from django.test import Client

    client = Client()
    client.force_login(fill())
    mine, plain = seconds(ours(client, "/ledger/"), statement(client, "/ledger/"))
    print(f"a page of {ROWS:,} lines: {mine * 1_000:.0f} ms, its statement alone {plain * 1_000:.1f} ms", flush=True)
    for kind, target in TARGETS.items():
        path = f"/ledger/export.{kind}"
        mine, plain = seconds(ours(client, path), peer(kind))
        verdict = "holds" if mine <= plain * target else "MISSED"
        what = f"{ROWS:,} lines as {kind.upper()}: {mine:.2f} s, a plain cursor and the standard library {plain:.2f} s"
        print(f"{what}: {mine / plain:.1f}x (at most {target:g}x: {verdict})", flush=True)


def main() -> None:
    """On a PostgreSQL of its own, which is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        database = servers.Postgres(Path(folder) / "postgres")
        try:
            os.environ |= {"DATA_DIR": folder, "DATABASE_URL": database.url, "REDIS_URL": "", "DEMO": "1"}
            os.environ |= {"LOG_LEVEL": "ERROR", "DJANGO_SETTINGS_MODULE": "project.settings"}
            import django
            from django.core.management import call_command

            django.setup()
            call_command("migrate", verbosity=0, interactive=False)
            call_command("collectstatic", verbosity=0, interactive=False)
            from django.test.utils import setup_test_environment

            setup_test_environment()
            measure()
        finally:
            database.stop()


if __name__ == "__main__":
    main()
