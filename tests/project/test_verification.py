"""`verify`: stops at the first stage that does not hold, says which, and never passes over what it could not see."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from project.bootstrap import ROOT
from project.verification import verify
from project.verification.stages import ROOMS, Stage, stages
from tests.architecture import tree


def stage(name, code, **changes):
    return Stage(name, (sys.executable, "-c", f"import sys; sys.exit({code})"), **changes)


@pytest.fixture
def with_stages(monkeypatch):
    def replace(*known):
        monkeypatch.setattr(verify, "stages", lambda folder: known)
        before = signal.getsignal(signal.SIGTERM)
        monkeypatch.setattr(verify.signal, "signal", lambda *_: before)

    return replace


def test_all_that_holds_is_a_success(with_stages, capfd):
    with_stages(stage("one", 0), stage("two", 0))
    assert verify.main([]) == 0
    assert "Everything that was run holds." in capfd.readouterr().out


def test_the_first_that_does_not_hold_ends_it_and_is_named(with_stages, capfd):
    with_stages(stage("one", 0), stage("two", 3), stage("three", 0))
    assert verify.main([]) == 1
    rows = [line.split() for line in capfd.readouterr().out.splitlines() if line.startswith("  ")]
    assert [row[:2] for row in rows[:3]] == [["one", "ok"], ["two", "FAILED"], ["three", "not"]]
    assert " ".join(rows[3]).startswith("Does not hold: two.")


def test_it_goes_on_when_asked_to_and_fails_all_the_same(with_stages, capfd):
    with_stages(stage("one", 1), stage("two", 0), stage("three", 1))
    assert verify.main(["--keep-going"]) == 1
    assert "Does not hold: one, three." in capfd.readouterr().out


def test_a_stage_that_could_not_look_is_no_failure_and_no_success(with_stages, capfd):
    with_stages(stage("locks", 75, cannot_look=75), stage("two", 75))
    assert verify.main(["--keep-going"]) == 1
    printed = capfd.readouterr().out
    assert "could not look" in printed
    assert "Does not hold: two." in printed


def test_servers_are_left_out_by_check_and_one_stage_can_be_named(with_stages, capfd):
    with_stages(stage("one", 0), stage("two", 1, needs_servers=True))
    assert verify.main(["--check"]) == 0
    assert verify.main(["--only", "two"]) == 1
    with pytest.raises(SystemExit):
        verify.main(["--only", "three"])


def test_the_real_stages_have_commands_that_exist(tmp_path):
    known = stages(tmp_path)
    assert len({found.name for found in known}) == len(known)
    for found in known:
        assert os.access(found.command[0], os.X_OK), found.command[0]
    run_tests = [found for found in known if "pytest" in found.command]
    assert {found.environment["TEST_DATABASE"] for found in run_tests} == {"postgres", "sqlite"}
    assert all(found.environment["CI"] == "true" and found.needs_servers for found in run_tests)


def test_production_is_checked_with_secrets_of_its_own(tmp_path):
    first, second = ({found.name: found for found in stages(tmp_path)}["deploy"].environment for _ in range(2))
    assert first["DEMO"] == "0"
    assert first["SECRET_KEY"] != second["SECRET_KEY"]
    assert first["KEY_RING"] != second["KEY_RING"]


def test_a_signal_ends_the_running_stage_too(tmp_path):
    text = """
import sys
from project.bootstrap import ROOT
from project.verification import verify
from project.verification.stages import Stage
slow = (sys.executable, "-c", "import time; print('slow', flush=True); time.sleep(60)")
verify.stages = lambda folder: (Stage("slow", slow),)
sys.exit(verify.main([]))
"""
    running = subprocess.Popen([sys.executable, "-c", text], cwd=tree.ROOT, stdout=subprocess.PIPE, text=True)
    while running.stdout.readline() != "slow\n":
        assert running.poll() is None
    began = time.monotonic()
    running.send_signal(signal.SIGTERM)
    assert running.wait(10) == 143
    # The pipe ends only when the stage, which holds it too, has ended.
    assert running.stdout.read() == ""
    assert time.monotonic() - began < 10
    running.stdout.close()


@pytest.mark.parametrize("mark", ROOMS)
def test_a_stage_looks_wherever_tests_of_its_mark_are(mark):
    """It is given folders, because collecting every other test takes longer than running some stages."""
    asked = re.compile(rf"\bmark\.{mark}\b")
    others = [path for path in (ROOT / "tests").rglob("test_*.py") if path.name != Path(__file__).name]
    files = [path for path in others if asked.search(path.read_text())]
    assert files
    missed = [path for path in files if not any(path.is_relative_to(ROOT / room) for room in ROOMS[mark])]
    if mark == "house":  # those that need a browser as well are in its stage
        missed = [path for path in missed if "mark.browser" not in path.read_text()]
    assert missed == []
