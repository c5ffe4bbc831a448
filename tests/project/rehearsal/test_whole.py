"""A whole rehearsal beside a whole desk: the same balances, and nothing secret of the one in any byte of the other."""

import json
import sqlite3
import subprocess
import sys
import time
from decimal import Decimal

import pytest

from tests.bounds import stretched
from tests.houses import ROOT, RunningHouse, free_port

pytestmark = [
    pytest.mark.house,
    pytest.mark.engine("whole houses have their stage where the real engine is"),
    pytest.mark.thorough("two whole desks; its parts are proven one by one"),
    pytest.mark.timeout(400),
]
BALANCES = "SELECT currency, wallet, CAST(available AS TEXT), CAST(reserved AS TEXT) FROM exchange_ops_balance"
SECRETS = (
    "SELECT password FROM desk_person",
    "SELECT data FROM mfa_authenticator",
    "SELECT sealed_secret FROM exchange_ops_apikey",
    "SELECT fingerprint FROM exchange_ops_apikey",
    "SELECT email FROM desk_person",
)


def rows(folder, question):
    with sqlite3.connect(f"file:{folder}/desk.sqlite3?mode=ro", uri=True, timeout=20) as connection:
        return connection.execute(question).fetchall()


def balances(folder):
    """What each wallet holds, what is reserved included."""
    sums = {row[:2]: Decimal(row[2]) + Decimal(row[3]) for row in rows(folder, BALANCES)}
    return {wallet: amount for wallet, amount in sums.items() if amount}


def written(folder):
    """The same in the file of the rehearsal."""
    (account,) = json.loads((folder / "figures.json").read_text())["exchange"]["accounts"]
    pairs = {(code, place): texts for code, texts in account["balances"].items() for place in ("bank", "trading")}
    sums = {(code, place): Decimal(texts[place == "trading"]) for (code, place), texts in pairs.items()}
    return {wallet: amount for wallet, amount in sums.items() if amount}


def until(condition):
    ends = time.monotonic() + stretched(90)
    while not condition():
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.5)


def test_a_second_desk_with_the_figures_of_the_first(house, tmp_path):
    until(lambda: {wallet for _, wallet in balances(house.folder)} == {"bank", "trading"})
    secrets = {value for question in SECRETS for (value,) in rows(house.folder, question) if value}
    secrets |= {(house.folder / name).read_text().strip() for name in ("secret-key", "key-ring")}
    secrets |= {"COUNTERSIGNDEMOSECRET234567ABCDE", "countersign-demo", "demo-read", "demo-withdraw"}
    folder, ports = tmp_path / "rehearsal", (free_port(), free_port())
    options = ["--folder", str(folder), "--port", str(ports[0]), "--sandbox-port", str(ports[1])]
    command = [sys.executable, "manage.py", "rehearse", *options]
    second = RunningHouse(folder=house.folder, command=command, ports=(house.port, house.sandbox_port))
    try:
        second.wait_until_ready()
        assert written(folder).keys() == balances(house.folder).keys()
        until(lambda: balances(folder) == written(folder))
        assert "Passwords and secrets for one-time codes of this rehearsal, printed only now:" in second.text
        report = subprocess.run([*command, "--report", "--json"], cwd=ROOT, env=second.environment, capture_output=True)
        assert json.loads(report.stdout)["payouts"] == []
    finally:
        second.stop()
    stored = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file() and "static" not in path.parts)
    assert b"rehearsal-1-read" in stored
    assert not [secret for secret in secrets if str(secret).encode() in stored]
