"""What the stages may cost: in units of work, or beside the rest of the stage; what has grown is named."""

import json
import sys
import tomllib
from dataclasses import replace

import pytest

from project.verification import budget, calibration, verify
from project.verification.budget import Costs, Spent
from project.verification.stages import Stage, stages

SHARES = """
unit = 0.5
[stages]
"tests" = 100
"lint" = 2
[files."tests"]
"tests/a/test_a.py" = 40
"tests/a/test_c.py" = 10
"tests/a/test_d.py" = 30
"""


def spent(seconds, **tests):
    return Spent("tests", seconds, Costs({f"tests/a/test_{name}.py::test_it[1]": cost for name, cost in tests.items()}))


def test_within_its_share_nothing_is_said():
    assert budget.complaints([spent(60.0, a=30.0)], unit=0.5, text=SHARES) == {}


def test_beyond_it_the_file_that_grew_is_named():
    complaints = budget.complaints([spent(70.0, a=20.0, b=45.0)], unit=0.5, text=SHARES)
    assert complaints == {
        "tests": "cost 140 units against a budget of 100 (1.4 times): tests/a/test_b.py grew from 0 to 90",
    }


def test_a_slow_machine_is_slow_and_not_too_dear():
    """Four times slower, of which the unit has seen half."""
    assert budget.complaints([spent(200.0, a=80.0, c=19.0, d=65.0)], unit=1.0, text=SHARES) == {}


def test_on_a_slow_machine_what_grew_beside_the_rest_is_named():
    complaints = budget.complaints([spent(300.0, a=80.0, b=105.0, c=20.0, d=60.0)], unit=1.0, text=SHARES)
    assert complaints == {
        "tests": "cost 150 units against a budget of 100 (1.5 times): tests/a/test_b.py grew from 0 to 52"
    }


@pytest.mark.parametrize("files", [{}, {"a": 80.0, "b": 200.0}, {"b": 200.0, "c": 20.0, "d": 20.0}])
def test_on_a_slow_machine_a_stage_of_which_too_few_files_are_known_is_not_judged(files):
    assert budget.complaints([spent(900.0, **files)], unit=1.0, text=SHARES) == {}
    assert budget.complaints([spent(900.0, **files)], unit=0.5, text=SHARES)


def test_a_stage_is_judged_by_the_unit_that_was_measured_while_it_ran():
    stage = spent(70.0, a=30.0)
    assert budget.complaints([stage], unit=0.5, text=SHARES)
    assert budget.complaints([replace(stage, unit=0.6)], unit=0.5, text=SHARES) == {}


def test_where_most_files_are_slower_than_the_unit_says_a_quarter_is_the_machines():
    """A database slows down more than the unit; one file that grew is still named."""
    slower = {"a": 25.0, "c": 6.25, "d": 18.75}
    assert budget.complaints([spent(80.0, **slower)], unit=0.5, text=SHARES) == {}
    assert budget.complaints([spent(80.0)], unit=0.5, text=SHARES)
    assert budget.complaints([spent(82.0, a=40.0, c=10.0, d=30.0)], unit=0.5, text=SHARES), "no more than a quarter"
    grown = budget.complaints([spent(90.0, a=20.0, c=5.0, d=15.0, b=50.0)], unit=0.5, text=SHARES)
    assert "tests/a/test_b.py grew from 0 to 100" in grown["tests"]


def test_what_ran_in_turn_is_not_counted():
    costs = Costs({"tests/a/test_a.py::test_it": 20.0, "tests/a/test_b.py::test_it": 60.0})
    assert budget.complaints([Spent("tests", 80.0, costs)], unit=0.5, text=SHARES)
    in_turn = Costs(costs.tests, frozenset({"tests/a/test_b.py::test_it"}))
    assert budget.complaints([Spent("tests", 80.0, in_turn)], unit=0.5, text=SHARES) == {}


def test_a_stage_without_a_share_is_named_when_it_costs_something():
    assert budget.complaints([Spent("new", 1.0, Costs())], unit=0.5, text=SHARES) == {}
    assert "new" in budget.complaints([Spent("new", 9.0, Costs())], unit=0.5, text=SHARES)


def test_what_is_recorded_holds(tmp_path, monkeypatch):
    monkeypatch.setattr(budget, "FILE", tmp_path / "budget.toml")
    budget.record([spent(60.0, a=30.0, b=0.1), Spent("lint", 1.0, Costs())], unit=0.5)
    text = budget.FILE.read_text()
    assert '"tests/a/test_a.py" = 60' in text
    assert "test_b" not in text, "what costs next to nothing is not written down"
    assert budget.complaints([spent(77.0, a=30.0)], unit=0.5) == {}
    assert budget.complaints([spent(79.0, a=30.0)], unit=0.5)
    budget.record([Spent("lint", 2.0, Costs())], unit=0.5)
    assert budget.complaints([spent(79.0, a=30.0)], unit=0.5), "the shares of other stages stay"


def test_a_slow_machine_writes_down_what_is_new_in_units_of_the_record(tmp_path, monkeypatch):
    monkeypatch.setattr(budget, "FILE", tmp_path / "budget.toml")
    budget.FILE.write_text(SHARES)
    assert budget.is_like_the_records(0.6)
    assert not budget.is_like_the_records(1.0)
    budget.record([spent(240.0, a=80.0, b=40.0, c=20.0, d=60.0), Spent("lint", 90.0, Costs())], unit=1.0)
    recorded = tomllib.loads(budget.FILE.read_text())
    assert recorded["unit"] == 0.5
    assert recorded["stages"] == {"tests": 120, "lint": 2}
    assert recorded["files"]["tests"]["tests/a/test_b.py"] == 20


def test_functions_are_added_up_over_their_parameters():
    costs = Costs(
        {"tests/test_a.py::test_one[1]": 2.0, "tests/test_a.py::test_one[2]": 3.0, "tests/test_a.py::two": 4.0}
    )
    lines = budget.most_expensive([Spent("tests", 9.0, costs)]).splitlines()[1:]
    assert [line.split()[:4:3] for line in lines] == [
        ["5.0", "tests/test_a.py::test_one"],
        ["4.0", "tests/test_a.py::two"],
    ]
    assert lines[0].split()[2] == "2"


def test_every_stage_that_always_runs_has_a_share(tmp_path):
    shares = tomllib.loads(budget.FILE.read_text())["stages"]
    assert set(shares) == {stage.name for stage in stages(tmp_path)}


def test_more_work_takes_more_of_the_processor():
    unit = calibration.measure()
    assert 0 < unit.processor <= unit.wall * 1.05
    assert calibration.Unit(0.2, calibration.AT_REST_SECONDS).stretch == 1.0
    assert calibration.Unit(0.2, 4 * calibration.AT_REST_SECONDS).stretch == pytest.approx(8.0)
    assert calibration.Unit(0.2, 80 * calibration.AT_REST_SECONDS).stretch == calibration.MOST_STRETCH


RUN = """
import time

def test_dear():
    ends = time.process_time() + 0.6
    while time.process_time() < ends: pass

def test_cheap(): pass
"""


@pytest.mark.every(3, "it runs a stage of its own twice")
def test_a_run_of_tests_is_counted_one_by_one_and_a_stage_that_costs_too_much_fails(tmp_path, monkeypatch, capfd):
    """A real run of pytest, from the plugin that counts to the table that says so."""
    (tmp_path / "test_it.py").write_text(RUN)
    options = ("-q", "-p", "no:django", "-p", "no:cacheprovider", "-c", "pyproject.toml", "--rootdir", str(tmp_path))
    command = (sys.executable, "-m", "pytest", *options, str(tmp_path / "test_it.py"))
    stage = Stage("small", command, {"TEST_DATABASE": "none"})
    monkeypatch.setattr(verify, "stages", lambda folder, turn: (stage,))
    monkeypatch.setattr(verify.signal, "signal", lambda *_: None)
    monkeypatch.setattr(budget, "FILE", tmp_path / "budget.toml")
    monkeypatch.setattr(budget, "_LEAST", 0.1)
    budget.FILE.write_text('unit = 3.0\n[stages]\n"small" = 0.2\n[files]\n')  # of a machine that is slower than any
    assert verify.main([]) == 1
    printed = capfd.readouterr().out
    assert "OVER BUDGET" in printed
    assert "test_it.py grew from 0 to" in printed
    costs = {line.split()[3]: float(line.split()[0]) for line in printed.splitlines() if "::test_" in line}
    dear = next(cost for name, cost in costs.items() if name.endswith("test_dear"))
    assert dear >= 0.6
    assert verify.main(["--record"]) == 0
    monkeypatch.setattr(budget, "MOST", 3)  # the machine's pace may change within these seconds
    assert verify.main([]) == 0
    assert json.dumps("small") in budget.FILE.read_text()
