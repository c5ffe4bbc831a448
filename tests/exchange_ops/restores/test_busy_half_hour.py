"""Backups from the middle of a busy half hour, each put back: nothing is paid, moved, ordered or borrowed twice.

A desk is busy with payouts, transfers, orders, brackets and margin, drawn from a seed. Backups are made at random
points of its work by `manage.py backup`. Afterwards each is put back by `manage.py restore`, and its desk starts in
front of the exchange as that stands now, which has gone on meanwhile. `BACKUPS=100 RESTORES_SEED=7` makes a hundred of
another seed; the time of the busy desk grows with them.

Every restored desk has an exchange of its own: the sandbox over a copy of the journal as it was when the busy desk had
ended. A journal gives the same world each time (tests/sandbox/world), so each exchange knows exactly what the busy
desk had it do, and nothing of what another restored desk did. So each restore is judged as if it were the only one, and
a failure is there again whenever its backup is put back alone.

Most are put back on another machine: the folder and the broker are empty. Every third is put back where the desk
was: the files of heads there know of later entries, and so does the broker.
"""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis

from tests import houses, servers

BACKUPS = int(os.environ.get("BACKUPS", "2"))
SEED = int(os.environ.get("RESTORES_SEED", "1"))
HEADS = ("audit-heads.log", "row-heads.log")
SECRETS = ("key-ring", "secret-key")
AS_MADE = ("static", "static.stamp")  # nobody looks at pages
RATES = dict.fromkeys(("EXCHANGE_OTHER_RATE", "EXCHANGE_TRADING_RATE", "EXCHANGE_MARKET_RATE"), "100000")
NEWEST = "countersign:newest-entry*"  # what the broker knows of a desk's rows

pytestmark = [
    pytest.mark.thorough("minutes of work; each promise of a restore by itself is proven by its rows"),
    pytest.mark.engine("money: never paid twice after a restore"),
    pytest.mark.timeout(300 + 120 * BACKUPS),
]


@dataclass
class Machine:
    """A folder, a database and a broker, and an address at which its desk's exchange is."""

    folder: Path
    database: str
    broker: servers.Redis
    port: int

    @classmethod
    def new(cls, place: Path, name: str) -> "Machine":
        """One on which no desk has run yet."""
        folder, queue = place / name, place / f"{name}-broker"
        folder.mkdir(mode=0o700)
        queue.mkdir(mode=0o700)
        return cls(folder, _empty_database(name), servers.Redis(queue), houses.free_port())

    def run(self, *command: str) -> str:
        """What a command of the desk here prints."""
        ours = {"DATA_DIR": str(self.folder), "SANDBOX_PORT": str(self.port), "REDIS_URL": self.broker.url, "DEMO": "1"}
        environment = houses._environment() | houses.QUICK | RATES | ours
        if self.database:
            environment["DATABASE_URL"] = self.database
        line = [sys.executable, *command]
        ended = subprocess.run(line, cwd=houses.ROOT, env=environment, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, f"{command}\n{ended.stdout}\n{ended.stderr}"
        return ended.stdout


def _empty_database(name: str) -> str:
    """The address of a new database on the server of this run; empty where the rows are a file of the folder."""
    if os.environ["TEST_DATABASE"] == "sqlite":
        return ""
    import psycopg
    from django.conf import settings

    server = settings.DATABASES["default"]
    name = f"{server['NAME']}_{name}".replace("-", "_")
    with psycopg.connect(host=server["HOST"], user=server["USER"], dbname="postgres", autocommit=True) as rows:
        rows.execute(f'DROP DATABASE IF EXISTS "{name}"')
        rows.execute(f'CREATE DATABASE "{name}"')
    return os.environ["DATABASE_URL"].rsplit("/", 1)[0] + f"/{name}"


@pytest.fixture
def first(tmp_path: Path) -> Iterator[Machine]:
    """Where the busy desk runs."""
    machine = Machine.new(tmp_path, "first")
    yield machine
    machine.broker.stop()


def _busy(place: Path, first: Machine) -> dict[str, Any]:
    """What the desk of the half hour tells of it, when it has ended."""
    shutil.copytree(houses.prepared_folder(), first.folder, dirs_exist_ok=True)
    if first.database or not (first.folder / "desk.sqlite3").exists():
        for name in HEADS:
            (first.folder / name).unlink(missing_ok=True)
        first.run("manage.py", "prepare")
    first.run("-m", "tests.exchange_ops.restores.busy_desk", str(place), str(SEED), str(BACKUPS))
    outcome: dict[str, Any] = json.loads((place / "busy.json").read_text())
    return outcome


def _restored(place: Path, first: Machine, number: int, ahead_s: float, *, is_elsewhere: bool) -> list[str]:
    """What is wrong with the desk of this backup."""
    machine = Machine.new(place, f"restored-{number}")
    try:
        for name in (*SECRETS, *(() if is_elsewhere else HEADS)):
            shutil.copy(first.folder / name, machine.folder)
        for name in AS_MADE:
            (machine.folder / name).symlink_to(first.folder / name)
        if not is_elsewhere:
            source, target = redis.Redis.from_url(first.broker.url), redis.Redis.from_url(machine.broker.url)
            for key in source.keys(NEWEST):
                target.set(key, source.get(key))
        exchange = place / f"exchange-{number}"
        shutil.copytree(place / "exchange", exchange)
        restore = ("restore", str(place / f"backup-{number}"))
        text = machine.run("-m", "tests.exchange_ops.restores.desk_process", str(ahead_s), *restore)
        assert "Nothing is sent until two treasurers have decided" in text
        desk = "tests.exchange_ops.restores.restored_desk"
        text = machine.run("-m", desk, str(exchange), str(SEED * 1000 + number), str(ahead_s))
    finally:
        machine.broker.stop()
    outcome = json.loads(text.splitlines()[-1])
    print(f"backup {number}: {outcome['facts']}")
    shutil.rmtree(machine.folder)
    return list(outcome["problems"])


def test_nothing_is_done_twice_by_any_restored_desk(tmp_path, first):
    busy = _busy(tmp_path, first)
    dice = random.Random(SEED)
    problems = []
    for backup in busy["backups"]:
        number, is_elsewhere = backup["number"], dice.random() < 2 / 3
        place = "elsewhere" if is_elsewhere else "there"
        story = f"seed {SEED}, backup {number} ({place}), at {backup['moment']}"
        print(story)
        several = _restored(tmp_path, first, number, busy["ahead_s"], is_elsewhere=is_elsewhere)
        print(*several, sep="\n")
        problems += [f"{story}: {problem}" for problem in several]
    assert not problems, "\n".join(problems)
