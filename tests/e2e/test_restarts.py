"""Whatever ends, ends well: the broker that dies, workers that hang, and the whole house that starts again."""

import contextlib
import json
import os
import signal
import threading
import time
import urllib.error
import urllib.request

import pytest
from playwright.sync_api import expect

from tests.bounds import stretched
from tests.e2e.conftest import prepare
from tests.e2e.visitors import Outside, rows, until
from tests.houses import QUICK, RunningHouse, prepared_folder

pytestmark = [
    pytest.mark.xdist_group("restarts"),
    pytest.mark.browser,
    pytest.mark.timeout(900),
]


class OwnHouse:
    """A house of this module that may be ended and started again on its ports; `now` is the one that runs."""

    def __init__(self):
        self.now = RunningHouse(folder=prepared_folder(), **QUICK)
        try:
            self.now.wait_until_ready()
        except BaseException:
            self.now.stop()
            raise
        self.crew = prepare(self.now)

    def again(self):
        """Start where the last one ended."""
        before = self.now
        self.now = RunningHouse(folder=before.folder, ports=(before.port, before.sandbox_port), **QUICK)
        self.now.wait_until_ready()
        return self.now


@pytest.fixture(scope="module")
def own():
    house = OwnHouse()
    yield house
    house.now.stop()


@pytest.fixture
def enter(own, open_page):
    """`enter("treasury")`: somebody fresh; what their pages complain about while nothing answers is expected."""

    def sign_in(role):
        return own.crew.enter(role, open_page(strict=False))

    return sign_in


def pids(house, part):
    return [number for number, command in house.processes().items() if part in command]


def unwell(house):
    """What keeps the house from being ready: name and sentence of each check that does not hold."""
    try:
        with urllib.request.urlopen(f"{house.url}/readyz", timeout=20) as answer:
            readiness = json.loads(answer.read())
    except urllib.error.HTTPError as error:
        readiness = json.loads(error.read())
    except urllib.error.URLError as error:
        return {"readyz": str(error)}
    return {name: check for name, check in readiness["checks"].items() if not readiness["ready"] and not check["ok"]}


def wait_until_ready(house, seconds):
    ends = time.monotonic() + stretched(seconds)
    while left := unwell(house):
        assert time.monotonic() < ends, left
        time.sleep(0.2)


def end_the_lease(house, number):
    """The lease of a claim lasts longer than a test should."""
    past = "lease_until='2026-01-01T00:00Z', next_action_at='2026-01-01T00:00Z'"
    rows_of_it = f"Withdrawal.objects.filter(pk={number}, lease_until__isnull=False)"
    script = f"from exchange_ops.models import Withdrawal; assert {rows_of_it}.update({past})"
    house.python("manage.py", "shell", "-v", "0", "-c", script)


class Killing(threading.Thread):
    """Kills the broker as soon as it is there again, until stopped."""

    def __init__(self, house):
        super().__init__(daemon=True)
        self.house, self.stopping, self.killed = house, threading.Event(), set()

    def run(self):
        while not self.stopping.wait(0.1):
            for number in pids(self.house, "redis"):
                try:
                    os.kill(number, signal.SIGKILL)
                    self.killed.add(number)
                except ProcessLookupError:
                    continue


@pytest.mark.thorough("the release without broker or worker is proven by processes in exchange_ops")
def test_without_broker_and_worker_the_release_still_comes_in_time(own, enter):
    house = own.now
    outside = Outside.from_now(house)
    operator = enter("operator")
    number = operator.ask_and_hold(amount="1.2571", reason="Nobody left to do it")
    operator.mark()
    killing = Killing(house)
    hung = pids(house, "celery --app project.celery:app --quiet worker")
    assert hung
    for pid in hung:
        os.kill(pid, signal.SIGSTOP)
    killing.start()
    try:
        until(lambda: killing.killed)
        house.control("clock", {"advance_ms": 55 * 60_000})
        state = "SELECT state FROM exchange_ops_withdrawal WHERE id = ?"
        until(lambda: rows(house, state, number) == [("rolled_back",)])
        assert outside.changes() == [("create_withdrawal", True), ("rollback_withdrawal", True)]
        assert outside.statuses("1.2571") == ["failed"]
    finally:
        killing.stopping.set()
        killing.join(10)
        for pid in hung:
            with contextlib.suppress(ProcessLookupError):  # whoever hangs for long is ended by the house
                os.kill(pid, signal.SIGCONT)
    wait_until_ready(house, 180)
    expect(operator.state()).to_have_text("Expired")
    assert operator.is_same_document(), "the page came back by itself"
    after = enter("operator").ask_and_hold(amount="1.2572", reason="And on it goes")
    treasury = enter("treasury")
    treasury.open(f"/withdrawals/{after}/")
    treasury.approve()
    treasury.is_paid()
    assert outside.statuses("1.2572") == ["success"]


@pytest.mark.thorough("a worker killed at every point is proven on PostgreSQL; this shows one in a whole house")
def test_a_worker_killed_in_the_middle_of_its_call_leaves_one_hold_that_is_adopted_and_paid_once(own, enter):
    house = own.now
    outside = Outside.from_now(house)
    operator, treasury = enter("operator"), enter("treasury")
    # Long enough for the killing on any machine; the worker would wait longer still for its answer.
    slow = {"operation": "create_withdrawal", "kind": "delay_then_execute", "ms": 12_000, "times": 1}
    house.control("faults", slow)
    number = operator.ask(amount="1.2574", reason="Killed while it waits for the answer")
    until(lambda: house.control(f"calls?since={outside.since}&operation=create_withdrawal")["calls"])
    # Where the worker is slow to begin, the sweep of the following process makes the call: whoever does is killed.
    for part in ("celery --app project.celery:app --quiet worker", "manage.py follow"):
        for pid in pids(house, part):
            os.kill(pid, signal.SIGKILL)
    claim = "SELECT state, version, lease_until FROM exchange_ops_withdrawal WHERE id = ?"
    [(state, version, lease)] = rows(house, claim, number)
    assert (state, outside.changes()) == ("holding", [("create_withdrawal", False)]), "killed while it waits"
    until(lambda: outside.changes() == [("create_withdrawal", True)])
    # Asked about the moments at which it moved, not about this one: a slow machine may look after the claim's end.
    moved = "SELECT event, at FROM exchange_ops_withdrawalevent WHERE withdrawal_id = ? AND version > ? AND at < ?"
    assert rows(house, moved, number, version, lease) == [], f"nobody else goes on while the claim lasts: {lease}"

    end_the_lease(house, number)
    expect(operator.state()).to_have_text("Reserved, waiting for approvals")
    assert outside.changes() == [("create_withdrawal", True)], "it was found, and not asked for again"
    treasury.open(f"/withdrawals/{number}/")
    treasury.approve()
    operator.is_paid()
    assert outside.statuses("1.2574") == ["success"]
    assert outside.changes() == [("create_withdrawal", True), ("commit_withdrawal", True)]


@pytest.mark.thorough("every end of a process is proven by kills on PostgreSQL")
def test_a_hold_survives_the_end_of_everything_and_is_approved_afterwards(own, enter):
    operator, treasury = enter("operator"), enter("treasury")
    number = operator.ask_and_hold(amount="1.2573", reason="Through the night")
    operator.mark()
    assert own.now.stop() < 10
    until(lambda: not own.now.processes())
    expect(operator.page.locator("#offline")).to_contain_text("Live connection lost")

    house = own.again()
    house.control("config", {"payout_seconds": 1})
    for one in (operator, treasury):
        one.house = house
    outside = Outside(house, 0)
    assert outside.statuses("1.2573") == ["created"], "the sandbox kept the hold"
    expect(operator.page.locator("#offline")).to_be_hidden()
    expect(operator.state()).to_have_text("Reserved, waiting for approvals")
    treasury.open(f"/withdrawals/{number}/")
    treasury.approve()
    operator.is_paid()
    assert operator.is_same_document(), "the page outlived the house"
    assert outside.changes() == [("commit_withdrawal", True)]
    assert outside.statuses("1.2573") == ["success"]
    assert outside.is_balanced()
    house.python("manage.py", "verify_audit")
