"""`verify --quick`: which tests reach what changed, and that a run in a hurry says what it left out."""

import os
import subprocess
import sys
import time

import pytest

from project.bootstrap import ROOT
from project.verification import quick, reach
from project.verification.stages import PURE, stages


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


def test_a_direct_import_is_nearer_than_one_through_a_room():
    found = reach.tests_of(["exchange_ops/withdrawals/proofs/payouts.py"]).tests
    assert found["tests/exchange_ops/withdrawals/proofs/test_payouts.py"] == 1
    assert set(found.values()) <= set(range(1, reach.MOST_STEPS + 1))
    assert max(found.values()) > 1


def test_each_kind_of_test_has_a_stage_with_the_most_direct_first():
    paths = {
        "tests/wire/test_transport.py": 2,
        "tests/wire/test_values.py": 1,
        "tests/desk/audit/test_audit.py": 1,
        "tests/e2e/pages/test_orders.py": 1,
        "tests/project/test_up.py": 1,
    }
    found = {stage.name: stage for stage in quick._test_stages(paths)}
    assert set(found) == {"pure tests", "tests", "browser tests"}
    assert found["pure tests"].command[-2:] == ("tests/wire/test_values.py", "tests/wire/test_transport.py")
    assert found["tests"].command[-1] == "tests/desk/audit/test_audit.py"
    assert found["browser tests"].command[-1] == "tests/e2e/pages/test_orders.py"
    assert not any("tests/project/test_up.py" in stage.command for stage in found.values())


def test_of_too_many_files_the_nearest_are_read_and_the_others_are_named(capsys):
    many = {str(path.relative_to(ROOT)): 3 for path in (ROOT / "tests/sandbox").rglob("test_*.py")}
    (stage,) = quick._test_stages(many | {"tests/wire/test_values.py": 1})
    read = [word for word in stage.command if word.endswith(".py")]
    assert read[0] == "tests/wire/test_values.py"
    assert len(read) == 24
    output = capsys.readouterr().out
    assert f"{len(many) - 23} test files were left out: " in output
    assert all(path in output for path in set(many) - set(read))


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

    def run(until):
        ended = subprocess.run(
            [*command[: command.index("no:django") + 1], "-p", "no:xdist", *options, *files],
            cwd=ROOT,
            env={**os.environ, "TEST_DATABASE": "none", "TESTS_UNTIL": str(until)},
            capture_output=True,
            text=True,
        )
        return ended.stdout

    assert "3 passed" in run(time.time() + 3_600)
    facts = run(time.time() - 1)
    assert "3 tests were left out, the time was up: test_first.py (1), test_later.py (2)" in facts
    assert "passed" not in facts


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
        env={**os.environ, "TEST_DATABASE": "none", "TEST_CLOCK": clock},
        capture_output=True,
        text=True,
    )
    seen = [int(word) for word in ended.stdout.partition("seen ")[2].split()[:2]]
    expected = 1835481590 if clock.startswith("2028") else began - 86_400
    assert len(seen) == 2
    assert all(0 <= each - expected < 600 for each in seen)
