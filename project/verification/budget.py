"""What `make test` may cost: the shares of tests/budget.toml, in units of the calibration's work.

A stage that costs more than `MOST` times its share fails, and says which files of tests have grown. What ran because it
was its turn is not counted: it differs from commit to commit.

A unit says how quick a machine is only near the machine of the record: on a slow one the caches are cold too, and a
browser slows down twice as much as a loop does. There each file of tests is compared with what most of its stage took,
so that one that grew is still named; a stage without files of tests can't be judged there. Near the record's machine a
database may be slower by a quarter than the unit says: where most files of a stage are, that much is the machine's.
"""

import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from project.bootstrap import ROOT

FILE = ROOT / "tests" / "budget.toml"
MOST = 1.3
# A share below this is not written down for a file, and no stage fails below it: a second is noise.
_LEAST = 5.0
_EXPENSIVE = 30
# Slower than the record's machine by more than this, units are no measure any more.
_LIKE = 1.25
# So many recorded files have to have run before what most of a stage took says anything.
_FILES = 3
_HEAD = """\
# What each stage of `make test` may cost, and each file of tests that costs about a second or more. A unit is the work
# of project/verification/calibration.py: {seconds:.2f} s of a processor when this was written.
# `python3 manage.py verify --record` writes it anew; who does that says in the commit what the additional cost buys.

unit = {seconds:.2f}
"""


@dataclass(frozen=True, slots=True)
class Costs:
    """What the tests of a stage cost, in seconds of a processor, and which of them ran because it was their turn."""

    tests: Mapping[str, float] = field(default_factory=dict)
    in_turn: frozenset[str] = frozenset()

    @property
    def usual_part(self) -> float:
        """The part of the whole that every run has: 1 when no test ran in turn."""
        total = sum(self.tests.values())
        return sum(cost for test, cost in self.tests.items() if test not in self.in_turn) / total if total else 1.0

    def by_file(self) -> Mapping[str, float]:
        """Seconds of each file of tests, without what ran in turn."""
        files: dict[str, float] = defaultdict(float)
        for test, cost in self.tests.items():
            if test not in self.in_turn:
                files[test.partition("::")[0]] += cost
        return files


@dataclass(frozen=True, slots=True)
class Spent:
    """What one stage cost, in seconds of a processor with everything that it started."""

    name: str
    seconds: float
    costs: Costs
    # What a unit of work took while the stage ran, in seconds of a processor; the run's where it wasn't measured.
    unit: float | None = None

    @property
    def usual_seconds(self) -> float:
        """Without what ran in turn."""
        return self.seconds * self.costs.usual_part


def complaints(stages: Sequence[Spent], *, unit: float, text: str | None = None) -> dict[str, str]:
    """Of each stage that costs too much (or has no share), a sentence that says by how much and what grew.

    `unit` is what a unit of work took here, in seconds of a processor.
    """
    recorded = tomllib.loads(FILE.read_text() if text is None else text)
    complaints = {}
    for stage in stages:
        slowness = _most_slowness(stage, recorded, unit)
        if slowness is None:
            continue
        share = recorded.get("stages", {}).get(stage.name)
        cost = stage.usual_seconds / (recorded["unit"] * slowness)
        if share is None:
            if cost > _LEAST:
                complaints[stage.name] = f"has no budget in tests/budget.toml; it cost {cost:.0f} units"
        elif cost > max(_LEAST, MOST * share):
            grown = "; ".join(_grown(stage, recorded, slowness)) or "no single test file explains it"
            complaints[stage.name] = (
                f"cost {cost:.0f} units against a budget of {share:.0f} ({cost / share:.1f} times): {grown}"
            )
    return complaints


def is_like_the_records(unit: float) -> bool:
    """Whether costs can be compared by units: not on a machine that is much slower than that of the record."""
    return unit <= _LIKE * float(tomllib.loads(FILE.read_text())["unit"])


def _slowness(stage: Spent, recorded: Mapping[str, Any], unit: float) -> float | None:
    """By how much this stage is slower here than on the machine of the record; None where nothing says so.

    By the unit on a machine like that one. On another by the files of the stage, so that what grew alone stands out.
    """
    by_unit = (stage.unit or unit) / float(recorded["unit"])
    return by_unit if by_unit <= _LIKE else _by_files(stage, recorded)


def _most_slowness(stage: Spent, recorded: Mapping[str, Any], unit: float) -> float | None:
    """The slowness by which a stage is judged: near the record's machine that of its files, within a quarter."""
    slowness, by_files = _slowness(stage, recorded, unit), _by_files(stage, recorded)
    if slowness is None or by_files is None or slowness > _LIKE:
        return slowness
    return max(slowness, min(by_files, slowness * _LIKE))


def _by_files(stage: Spent, recorded: Mapping[str, Any]) -> float | None:
    """By how much the half of its files (by their shares) are slower than recorded; None where too few ran."""
    shares = recorded.get("files", {}).get(stage.name, {})
    ratios = sorted(
        (float(seconds / (recorded["unit"] * shares[path])), float(shares[path]))
        for path, seconds in stage.costs.by_file().items()
        if path in shares
    )
    half = sum(share for _, share in ratios) / 2
    if len(ratios) < _FILES or 4 * half < sum(shares.values()):
        return None
    for ratio, share in ratios:
        half -= share
        if half <= 0:
            return ratio
    return None


def shares_of_files() -> dict[str, float]:
    """Units of work of each file of tests that costs more than a few, in all stages together."""
    stages = tomllib.loads(FILE.read_text()).get("files", {})
    files: dict[str, float] = defaultdict(float)
    for path, share in (each for shares in stages.values() for each in shares.items()):
        files[path] += share
    return files


def _grown(stage: Spent, recorded: Mapping[str, Any], slowness: float) -> list[str]:
    recorded_costs = recorded.get("files", {}).get(stage.name, {})
    now = {path: seconds / (recorded["unit"] * slowness) for path, seconds in stage.costs.by_file().items()}
    more = sorted(now, key=lambda path: recorded_costs.get(path, 0.0) - now[path])[:5]
    return [
        f"{path} grew from {recorded_costs.get(path, 0.0):.0f} to {now[path]:.0f}"
        for path in more
        if now[path] - recorded_costs.get(path, 0.0) > _LEAST
    ]


def record(stages: Sequence[Spent], *, unit: float) -> None:
    """Write the shares anew, of these stages; those of others stay, and of those that can't be judged here.

    A machine that is not like that of the record doesn't become it: what is new is written down in its units.
    """
    recorded: dict[str, Any] = tomllib.loads(FILE.read_text()) if FILE.exists() else {}
    if not recorded or unit <= _LIKE * recorded["unit"]:
        recorded["unit"] = unit
    shares, files_of = recorded.setdefault("stages", {}), recorded.setdefault("files", {})
    for stage in stages:
        slowness = _slowness(stage, recorded, unit)
        if slowness is None:
            continue
        one = recorded["unit"] * slowness
        shares[stage.name] = stage.usual_seconds / one
        files = {path: seconds / one for path, seconds in stage.costs.by_file().items()}
        files_of[stage.name] = {path: cost for path, cost in files.items() if cost >= _LEAST}
    lines = [_HEAD.format(seconds=recorded["unit"]), "[stages]"]
    lines += [f'"{name}" = {share:.0f}' for name, share in shares.items()]
    for name, files in files_of.items():
        if files:
            lines += ["", f'[files."{name}"]', *(f'"{path}" = {files[path]:.0f}' for path in sorted(files))]
    FILE.write_text("\n".join(lines) + "\n")


def most_expensive(stages: Sequence[Spent]) -> str:
    """The test functions that cost the most, all their parameters added up, a line each."""
    functions: dict[tuple[str, str], float] = defaultdict(float)
    cases: Counter[tuple[str, str]] = Counter()
    for stage in stages:
        for test, cost in stage.costs.tests.items():
            functions[stage.name, test.partition("[")[0]] += cost
            cases[stage.name, test.partition("[")[0]] += 1
    dearest = sorted(functions, key=lambda key: -functions[key])[:_EXPENSIVE]
    rows = [f"  {functions[key]:7.1f} s  {cases[key]:>5}  {key[1]} ({key[0]})" for key in dearest]
    return "\n".join([f"  The {len(rows)} most expensive test functions, in seconds of CPU, and their cases:", *rows])
