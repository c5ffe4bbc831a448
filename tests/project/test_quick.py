"""`verify --quick`: which tests reach what changed, and that a run in a hurry says what it left out."""

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from project.bootstrap import ROOT
from project.verification import quick, reach, running
from project.verification.stages import PURE, Stage, stages
from tests import until
from tests.bounds import stretched


@dataclass(frozen=True)
class Item:
    """What the order of tests is made from."""

    nodeid: str


@pytest.mark.parametrize(
    ("changed", "test"),
    [
        ("exchange_ops/withdrawals/proofs/payouts.py", "tests/exchange_ops/withdrawals/proofs/test_payouts.py"),
        ("wire/transport.py", "tests/wire/test_transport.py"),
        ("wire/transport.py", "tests/exchange_ops/client/test_methods.py"),
        ("tests/wire/described.py", "tests/exchange_ops/wire/test_catalogue.py"),
        ("tests/wire/conftest.py", "tests/wire/test_transport.py"),
        ("exchange_ops/orders/views/listing.py", "tests/exchange_ops/orders/test_views.py"),
        ("exchange_ops/orders/views/listing.py", "tests/e2e/pages/test_orders.py"),
        ("templates/exchange_ops/orders.html", "tests/exchange_ops/orders/test_views.py"),
        ("templates/exchange_ops/orders.html", "tests/e2e/pages/test_orders.py"),
        ("static/js/live.js", "tests/e2e/test_live_pages.py"),
        ("docs/house.md", "tests/project/test_documents.py"),
        ("desk/management/commands/verify_audit.py", "tests/desk/audit/test_audit.py"),
    ],
)
def test_what_changed_leads_to_its_tests(changed, test):
    assert test in reach.tests_of([changed]).tests


def test_a_changed_test_is_the_nearest_of_all_and_what_no_test_reaches_is_named():
    unknown = "-".join(("un", "tested"))  # in pieces: a test that names a file counts as its test
    found = reach.tests_of(["tests/wire/test_transport.py", unknown])
    assert [path for path, steps in found.tests.items() if steps == 0] == ["tests/wire/test_transport.py"]
    assert found.untested == (unknown,)


def test_a_direct_import_is_nearer_than_one_through_a_room_and_another_room_is_one_step_further():
    near = reach.tests_of(["exchange_ops/withdrawals/proofs/payouts.py"]).tests
    assert near["tests/exchange_ops/withdrawals/proofs/test_payouts.py"] == 1
    assert set(near.values()) <= set(range(1, reach.MOST_STEPS + 2))
    assert max(near.values()) > 1
    near = reach.tests_of(["desk/audit/heads.py"]).tests
    assert near["tests/desk/audit/test_heads.py"] == 1
    assert min(near[path] for path in near if not path.startswith("tests/desk/audit/")) > 1


def test_each_kind_of_test_has_a_stage_with_the_most_direct_first():
    paths = {
        "tests/wire/test_transport.py": 2,
        "tests/wire/test_values.py": 1,
        "tests/desk/audit/test_audit.py": 2,
        "tests/e2e/pages/test_orders.py": 1,
        "tests/project/test_up.py": 1,
    }
    kinds = {stage.name: stage for stage in quick._test_stages(paths, shows_pages=True)}
    assert list(kinds) == ["pure tests", "browser tests", "tests"]
    assert kinds["pure tests"].command[-2:] == ("tests/wire/test_values.py", "tests/wire/test_transport.py")
    assert kinds["tests"].command[-1] == "tests/desk/audit/test_audit.py"
    assert kinds["browser tests"].command[-1] == "tests/e2e/pages/test_orders.py"
    assert not any("tests/project/test_up.py" in stage.command for stage in kinds.values())


def test_browsers_start_for_pages_and_scripts_alone(capsys):
    paths = {"tests/desk/audit/test_audit.py": 1, "tests/wire/test_values.py": 2, "tests/e2e/pages/test_orders.py": 1}
    assert [stage.name for stage in quick._test_stages(paths, shows_pages=False)] == ["tests", "pure tests"]
    assert "no page or script changed: 1 browser test files." in capsys.readouterr().out
    assert [quick._shows(path) for path in ("templates/base.html", "static/js/live.js", "desk/audit/heads.py")] == [
        True,
        True,
        False,
    ]


def test_one_kind_of_test_takes_both_cores():
    paths = {"tests/wire/test_values.py": 1, "tests/wire/test_transport.py": 2}
    halves = quick._test_stages(paths, shows_pages=False)
    assert [stage.name for stage in halves] == ["pure tests 1", "pure tests 2"]
    assert [stage.command[-1] for stage in halves] == list(paths)
    assert all(stage.empty == 5 for stage in halves)


def test_of_too_many_files_the_nearest_are_read_and_the_others_are_counted(capsys):
    many = {str(path.relative_to(ROOT)): 3 for path in (ROOT / "tests/sandbox").rglob("test_*.py")}
    stages = quick._test_stages(many | {"tests/wire/test_values.py": 1}, shows_pages=False)
    read = [word for stage in stages for word in stage.command if word.endswith(".py")]
    assert stages[0].command[-1] != "tests/wire/test_values.py"
    assert "tests/wire/test_values.py" in stages[0].command
    assert len(read) == 24
    output = capsys.readouterr().out
    assert f"less closely related: {len(many) - 23} test files (" in output
    folders = {str(Path(path).parent.relative_to("tests")) for path in set(many) - set(read)}
    assert all(f"{folder} " in output for folder in folders)


def test_changes_are_those_since_the_main_branch_and_of_the_working_tree(tmp_path, monkeypatch):
    def git(*words):
        who = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    def write(*names):
        for name in names:
            (tmp_path / name).write_text(f"{time.monotonic_ns()}\n")

    monkeypatch.setattr(quick, "ROOT", tmp_path)
    with pytest.raises(quick.CannotCompare, match="git can't tell what changed"):
        quick.changes()
    git("init", "--initial-branch", "main")
    write("kept", "changed", "committed")
    git("add", ".")
    git("commit", "--message", "First")
    assert quick.changes()[1] == ()
    git("switch", "--create", "work")
    write("committed")
    git("commit", "--all", "--message", "Second")
    write("changed", "new")
    since, changed = quick.changes()
    assert since.startswith("main (")
    assert changed == ("changed", "committed", "new")


def test_nothing_begins_when_the_time_is_up_and_what_was_left_out_is_named(tmp_path):
    (tmp_path / "test_later.py").write_text("def test_one(): pass\ndef test_two(): pass\n")
    (tmp_path / "test_first.py").write_text("import time\ndef test_it(): time.sleep(1)\n")
    command = next(found.command for found in stages(tmp_path) if found.name in PURE)
    options = ("-p", "tests.until", "-p", "no:cacheprovider", "-c", "pyproject.toml", "--rootdir", tmp_path)
    files = (tmp_path / "test_first.py", tmp_path / "test_later.py")

    def run(until, end=3_600):
        ended = subprocess.run(
            [*command[: command.index("no:django") + 1], "-p", "no:xdist", *options, *files],
            cwd=ROOT,
            env={
                **os.environ,
                "TESTS_SHARD": "",
                "TEST_DATABASE": "none",
                "TESTS_UNTIL": f"{time.time() + until}",
                "TESTS_END": f"{time.time() + end}",
            },
            capture_output=True,
            text=True,
        )
        return ended.stdout

    assert "3 passed" in run(3_600)
    output = run(-1)
    assert re.search(r"3 tests left out, the time is up: \S+: first 1, later 2\.", output), output
    assert "passed" not in output
    output = run(3_600, end=-1)
    assert "2 passed, 1 skipped" in output
    assert re.search(r"Stopped while it ran, the time is up: \S*test_first.py::test_it", output), output


def test_of_many_cases_a_few_come_first_and_the_others_after_all_files():
    class Config:
        args: ClassVar = ["one.py", "two.py"]

    items = [Item(f"one.py::test_a[{number}]") for number in range(20)] + [Item("two.py::test_b")]
    until.pytest_collection_modifyitems(Config, items)
    assert [item.nodeid for item in items[:6]] == [
        *(f"one.py::test_a[{number}]" for number in (0, 4, 8, 12, 16)),
        "two.py::test_b",
    ]
    assert len(items) == 21


def test_whatever_still_runs_at_its_moment_is_ended(tmp_path):
    began = time.monotonic()
    sleeping = Stage("sleeping", (sys.executable, "-c", "import time; time.sleep(600)"))
    results = running.run_all([sleeping] * 2, folder=tmp_path, cores=1, keep_going=True, until=began + 0.5)
    assert [result.outcome for result in results] == [running.ENDED_EARLY, running.LEFT_OUT]
    assert time.monotonic() - began < stretched(60)


SHIFTED = pytest.param("-86400", marks=pytest.mark.thorough("it sets the same clock as a moment does"))


@pytest.mark.parametrize("clock", ["2028-02-29T23:59:50", SHIFTED])
def test_a_run_at_another_hour_sees_it(tmp_path, clock):
    (tmp_path / "test_hour.py").write_text(
        "import time\nfrom datetime import UTC, datetime\n"
        "def test_it(): print('seen', int(time.time()), int(datetime.now(UTC).timestamp()))\n"
    )
    began = int(time.time())
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "-p", "tests.clocks", "-p", "no:django", "-p", "no:xdist"]
        + ["-p", "no:cacheprovider", "-c", "pyproject.toml", tmp_path / "test_hour.py"],
        cwd=ROOT,
        env={**os.environ, "TESTS_SHARD": "", "TEST_DATABASE": "none", "TEST_CLOCK": clock},
        capture_output=True,
        text=True,
    )
    seen = [int(word) for word in ended.stdout.partition("seen ")[2].split()[:2]]
    expected = 1835481590 if clock.startswith("2028") else began - 86_400
    assert len(seen) == 2
    assert all(0 <= each - expected < 600 for each in seen)
