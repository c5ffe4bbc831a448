"""`verify`: stops at the first stage that does not hold, says which, and never passes over what it could not see."""

import os
import re
import resource
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from project.bootstrap import ROOT
from project.verification import verify
from project.verification.stages import PURE, ROOMS, Stage, stages
from tests.architecture import tree
from tests.bounds import stretched


def stage(name, code, **changes):
    return Stage(name, (sys.executable, "-c", f"import sys; sys.exit({code})"), **changes)


@pytest.fixture
def with_stages(monkeypatch):
    def replace(*known):
        monkeypatch.setattr(verify, "stages", lambda folder, turn: known)
        before = signal.getsignal(signal.SIGTERM)
        monkeypatch.setattr(verify.signal, "signal", lambda *_: before)

    return replace


def test_all_that_holds_is_a_success(with_stages, capfd):
    with_stages(stage("one", 0), stage("two", 0))
    assert verify.main([]) == 0
    assert "All stages passed." in capfd.readouterr().out


def test_the_first_that_does_not_hold_ends_it_and_is_named(with_stages, capfd):
    with_stages(stage("one", 0), stage("two", 3), stage("three", 0))
    assert verify.main(["--cores", "1"]) == 1
    rows = [line.split() for line in capfd.readouterr().out.splitlines() if line.startswith("  ")]
    assert rows[0] == ["stage", "real", "user", "sys", "peak", "tests"]
    assert [row[:2] for row in rows[1:4]] == [["one", "ok"], ["two", "FAILED"], ["three", "not"]]
    assert " ".join(rows[4]).startswith("Failed: two.")


def test_it_goes_on_when_asked_to_and_fails_all_the_same(with_stages, capfd):
    with_stages(stage("one", 1), stage("two", 0), stage("three", 1))
    assert verify.main(["--keep-going"]) == 1
    assert "Failed: one, three." in capfd.readouterr().out


def test_a_stage_that_could_not_look_is_no_failure_and_no_success(with_stages, capfd):
    with_stages(stage("locks", 75, cannot_look=75), stage("two", 75))
    assert verify.main(["--keep-going"]) == 1
    printed = capfd.readouterr().out
    assert "not checked" in printed
    assert "Failed: two." in printed


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
    assert {found.environment["TEST_DATABASE"] for found in run_tests} == {"postgres", "sqlite", "none"}
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
verify.stages = lambda folder, turn: (Stage("slow", slow),)
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
    assert time.monotonic() - began < stretched(10)
    running.stdout.close()


@pytest.mark.parametrize("mark", ROOMS)
def test_a_stage_looks_wherever_tests_of_its_mark_are(mark):
    """It is given folders, because collecting every other test takes longer than running some stages."""
    marked = re.compile(rf"\bmark\.{mark}\b")
    others = [
        path
        for path in (ROOT / "tests").rglob("test_*.py")
        if path.name not in {Path(__file__).name, "test_selection.py"}
    ]
    files = [path for path in others if marked.search(path.read_text())]
    assert files
    missed = [path for path in files if not any(path.is_relative_to(ROOT / room) for room in ROOMS[mark])]
    if mark == "house":  # those that need a browser as well are in its stage
        missed = [path for path in missed if "mark.browser" not in path.read_text()]
    assert missed == []


def test_two_run_at_once_where_there_are_two_cores_and_each_is_told_whole(with_stages, tmp_path, capfd):
    """The first waits for a file that only the second writes."""
    sign = tmp_path / "sign"
    waits = f"import pathlib, time\nwhile not pathlib.Path({str(sign)!r}).exists(): time.sleep(0.01)\nprint('first')"
    writes = f"import pathlib; pathlib.Path({str(sign)!r}).touch(); print('second')"
    with_stages(Stage("one", (sys.executable, "-c", waits)), Stage("two", (sys.executable, "-c", writes)))
    assert verify.main(["--cores", "2"]) == 0
    printed = capfd.readouterr().out
    assert re.search(r"== 1/2 one\nfirst\n\n== 2/2 two\nsecond\n", printed)


def test_one_that_needs_all_cores_runs_alone(with_stages, tmp_path):
    here = str(tmp_path / "here")
    busy = f"import os, time; os.mkdir({here!r}); time.sleep(0.2); os.rmdir({here!r})"
    alone = f"import os, sys; sys.exit(os.path.exists({here!r}))"
    with_stages(Stage("one", (sys.executable, "-c", busy)), Stage("two", (sys.executable, "-c", alone), cores=2))
    assert verify.main(["--cores", "2", "--keep-going"]) == 0
    with_stages(Stage("two", (sys.executable, "-c", alone), cores=2), Stage("one", (sys.executable, "-c", busy)))
    assert verify.main(["--cores", "2", "--keep-going"]) == 0


def test_one_that_comes_after_another_waits_for_its_end(with_stages, tmp_path, capfd):
    sign = tmp_path / "sign"
    writes = f"import pathlib, time; time.sleep(0.2); pathlib.Path({str(sign)!r}).touch()"
    needs = Stage(
        "two", (sys.executable, "-c", f"import os, sys; sys.exit(not os.path.exists({str(sign)!r}))"), after=("one",)
    )
    with_stages(needs, Stage("one", (sys.executable, "-c", writes)))
    assert verify.main(["--cores", "2"]) == 0
    assert verify.main(["--cores", "2", "--only", "two"]) == 0, "alone it waits for nobody"
    assert "not run" not in capfd.readouterr().out


def test_the_real_stages_wait_only_for_ones_before_them(tmp_path):
    known = stages(tmp_path)
    for place, found in enumerate(known):
        assert set(found.after) <= {earlier.name for earlier in known[:place]}


def test_what_runs_beside_the_first_that_fails_is_ended(with_stages, capfd):
    slow = Stage("two", (sys.executable, "-c", "import time; time.sleep(60)"))
    with_stages(stage("one", 1), slow, stage("three", 0))
    began = time.monotonic()
    assert verify.main(["--cores", "2"]) == 1
    assert time.monotonic() - began < stretched(30)
    printed = capfd.readouterr().out
    assert re.search(r"two +ended early", printed)
    assert re.search(r"three +(ok|not run)", printed)


def test_what_fails_beside_an_earlier_one_says_why(with_stages, capfd):
    slow = Stage("one", (sys.executable, "-c", "import time; time.sleep(60)"))
    with_stages(slow, Stage("two", (sys.executable, "-c", "import sys; sys.exit('this is why')")))
    assert verify.main(["--cores", "2"]) == 1
    assert re.search(r"== 2/2 two\nthis is why\n", capfd.readouterr().out)


def test_what_a_stage_and_its_children_took_is_printed(with_stages, capfd):
    """Time of the processor and memory as the kernel counted them, of children too, and how many tests passed."""
    spends = "import time\nbegan = time.process_time()\nkept = bytearray(100_000_000)\n"
    spends += "while time.process_time() - began < 0.5: pass\n"
    text = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {spends!r}])\n"
    text += "print('3 skipped, 17 passed in 2.31s')"
    with_stages(Stage("one", (sys.executable, "-c", text)))
    assert verify.main([]) == 0
    row = re.search(r"one +ok +([\d.]+) s +([\d.]+) s +([\d.]+) s +(\d+) MB +17\n", capfd.readouterr().out)
    real, user, system, peak = (float(part) for part in row.groups())
    assert user + system >= 0.5
    assert real >= 0.5
    # A child begins with the peak of the process that starts it, here of a worker of tests.
    assert 100 <= peak < 900 + resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def test_what_an_orphan_took_is_counted_and_what_outlives_its_stage_is_ended_and_named(with_stages, capfd, monkeypatch):
    """A child of a process that was killed belongs to its stage all the same."""
    monkeypatch.setenv("REAPING_GRACE", str(stretched(3)))
    spends = "import time\nwhile time.process_time() < 0.4: pass"
    remains = "import time; time.sleep(600)"
    parent = "import os, signal, subprocess, sys\n"
    parent += (
        f"subprocess.Popen([sys.executable, '-c', {spends!r}])\nsubprocess.Popen([sys.executable, '-c', {remains!r}])\n"
    )
    parent += "os.kill(os.getpid(), signal.SIGKILL)"
    text = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {parent!r}])"
    with_stages(Stage("one", (sys.executable, "-c", text)))
    assert verify.main([]) == 0
    printed = capfd.readouterr().out
    user, system = re.search(r"one +ok +[\d.]+ s +([\d.]+) s +([\d.]+) s", printed).groups()
    assert float(user) + float(system) >= 0.4
    assert f"{remains} outlived the stage and was stopped." in printed


PURE_FOLDERS = [folder for folders in PURE.values() for folder in folders]


@pytest.mark.parametrize("folder", PURE_FOLDERS)
def test_no_mark_is_about_a_pure_test(folder):
    """Stages that choose by a mark leave the pure folders out."""
    marked = re.compile(r"\bmark\.(engine|house|browser|django_db)\b")
    files = list((ROOT / folder).rglob("test_*.py"))
    assert files
    assert not [path for path in files if marked.search(path.read_text())]


IMPURE = {
    "from django.db import models\ndef test_it(): pass": "A pure test imports django",
    "def test_it():\n    import celery": "A pure test imports celery",
    "def test_it(db): pass": "fixture 'db' not found",
}


def test_a_pure_test_that_wants_django_or_a_database_is_red(tmp_path):
    for number, text in enumerate(IMPURE):
        (tmp_path / f"test_{number}.py").write_text(text)
    command = next(found.command for found in stages(tmp_path) if found.name in PURE)
    ended = subprocess.run(
        [
            *command[: command.index("no:django") + 1],
            "-p",
            "no:xdist",
            "-p",
            "no:cacheprovider",
            "-c",
            "pyproject.toml",
            "--continue-on-collection-errors",
            tmp_path,
        ],
        cwd=ROOT,
        env={**os.environ, "TESTS_SHARD": "", "TEST_DATABASE": "none"},
        capture_output=True,
        text=True,
    )
    assert ended.returncode
    assert "passed" not in ended.stdout
    for problem in IMPURE.values():
        assert problem in ended.stdout, ended.stdout


def test_every_test_file_is_in_one_stage_of_those_that_need_neither_browser_nor_house():
    """Each is below a folder of exactly one such stage that doesn't leave it out."""
    direct = [found.command for found in stages(ROOT) if found.name in {*PURE, "tests"} if "pytest" in found.command]
    assert len(direct) == len(PURE) + 1
    wrong = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        counted = [
            command
            for command in direct
            if any(path.is_relative_to(ROOT / word) for word in command if word.startswith("tests"))
            and not any(path.is_relative_to(ROOT / out) for flag, out in pairwise(command) if flag == "--ignore")
        ]
        if len(counted) != 1:
            wrong[path] = len(counted)
    assert wrong == {}
