"""`verify --quick`: the tests that reach what changed, the most direct first, and what is cheap to ask of all files.

It ends within a minute of the command's start, what prepares the environment included: at BEGIN_BY the last test
begins, at STOP_AT those that still run are stopped, at END_AT whatever still runs is ended. A slow machine runs fewer
tests, never longer.
"""

import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from project.bootstrap import ROOT
from project.verification import budget, reach
from project.verification.stages import DIRECT, PURE, ROOMS, Stage, desk_tests, pure_tests

# Seconds since the command began.
BEGIN_BY, STOP_AT, END_AT = 45, 51, 56
_MAIN = ("origin/main", "main")
# What outlives a run; `pytest --cache-clear` takes it away.
_PREPARED = ROOT / ".pytest_cache" / "d" / "quick"
# More files than these don't come to run, and reading them takes time.
_MOST_FILES = 24  # of each stage
_MOST_BROWSING = 8
_CHEAP = ("lint", "format", "templates", "imports")


class CannotCompare(Exception):
    """It can't be told what changed; the text says why."""


def chosen(all_stages: Sequence[Stage]) -> list[Stage]:
    """The stages of a quick run, after a word on what changed, what of it no test reaches, and what is left out."""
    base, changed = changes()
    print(f"{len(changed)} files changed since {base}.")
    if not changed:
        return []
    reached = reach.tests_of(changed)
    if reached.untested:
        print(f"No tests found by import or name for: {', '.join(reached.untested)}.")
    print("Skipped: types, migrations, deploy, api schema, compose, static files, PostgreSQL, the whole house,")
    print("tests marked thorough (except browser tests), and those named below.", flush=True)
    of_tests = _test_stages(reached.tests, shows_pages=any(map(_shows, changed)))
    cheap = [stage for stage in all_stages if stage.name in _CHEAP]
    return [*of_tests[:1], *cheap, *of_tests[1:]]


def deadline() -> float:
    """The moment of the monotonic clock when whatever still runs is ended."""
    return time.monotonic() - since_start() + END_AT


def since_start() -> float:
    """Seconds since this process began, whatever programs it has been since."""
    try:
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    except OSError:
        return time.process_time()
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def changes() -> tuple[str, tuple[str, ...]]:
    """Since where, and which files: committed after the main branch, changed or new in the working tree."""
    main = next((name for name in _MAIN if _git("rev-parse", "--verify", "--quiet", name)), "")
    base = _git("merge-base", "HEAD", main) if main else _git("rev-parse", "HEAD")
    if not base:
        raise CannotCompare("Not a git clone with a commit: git can't tell what changed. `make test` runs everything.")
    listed = _git("diff", "--name-only", base) + "\n" + _git("ls-files", "--others", "--exclude-standard")
    return f"{main or 'HEAD'} ({base[:9]})", tuple(sorted(set(listed.split("\n")) - {""}))


def _git(*words: str) -> str:
    try:
        ended = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return ended.stdout.strip() if ended.returncode == 0 else ""


def _shows(path: str) -> bool:
    """Whether a browser is what tells of this change: a page, a script, or a test and what serves it."""
    return Path(path).suffix in reach.PAGES or path.startswith("tests/")


def _test_stages(distances: Mapping[str, int], *, shows_pages: bool) -> list[Stage]:
    """A stage for each kind of test, that with the nearest file first; or two for the only kind, for two cores."""
    costs = budget.shares_of_files()
    files = sorted(filter(_exists, distances), key=lambda path: (distances[path], costs.get(path, 0.0), path))
    if not shows_pages and (browser_tests := [path for path in files if _drives_browser(path)]):
        print(f"Also skipped, since no page or script changed: {len(browser_tests)} browser test files.")
    kinds = {
        "pure tests": _nearest(_MOST_FILES, filter(_is_pure, files)),
        "tests": _nearest(_MOST_FILES, filter(_is_direct, files)),
        "browser tests": _nearest(_MOST_BROWSING, filter(_drives_browser, files)) if shows_pages else [],
    }
    kinds = {name: paths for name, paths in kinds.items() if paths}
    if len(kinds) == 1:
        ((name, paths),) = kinds.items()
        halves = filter(None, _dealt(paths, costs))
        kinds = {f"{name} {number}": half for number, half in enumerate(halves, 1)}
    return [_stage(name, kinds[name]) for name in sorted(kinds, key=lambda name: distances[kinds[name][0]])]


def _exists(path: str) -> bool:
    return (ROOT / path).exists()


def _is_pure(path: str) -> bool:
    return _is_in(path, [room for rooms in PURE.values() for room in rooms])


def _is_direct(path: str) -> bool:
    elsewhere = _is_in(path, [*ROOMS["house"], "tests/e2e"]) or path.endswith("_browser.py")
    return not elsewhere and not _is_pure(path)


def _drives_browser(path: str) -> bool:
    return _is_in(path, ROOMS["browser"]) and "mark.browser" in (ROOT / path).read_text()


def _is_in(path: str, rooms: Sequence[str]) -> bool:
    return any(Path(path).is_relative_to(room) for room in rooms)


def _nearest(most: int, files: Iterable[str]) -> list[str]:
    """As many as come to run; how many others there are, in which folder, is said."""
    nearest, others = (files := list(files))[:most], files[most:]
    if others:
        folders = Counter(str(Path(path).parent.relative_to("tests")) for path in others)
        listed = ", ".join(f"{folder} {count}" for folder, count in folders.items())
        print(f"Also skipped as less closely related: {len(others)} test files ({listed}).")
    return nearest


def _dealt(files: Sequence[str], costs: Mapping[str, float]) -> tuple[list[str], list[str]]:
    """The files in two parts of about the same cost, both in their order."""
    parts: tuple[list[str], list[str]] = ([], [])
    sums = [0.0, 0.0]
    for path in files:
        lesser = sums.index(min(sums))
        parts[lesser].append(path)
        sums[lesser] += costs.get(path, 0.0) + 1
    return parts


def _stage(name: str, files: Sequence[str]) -> Stage:
    """One process of tests that ends in time, on SQLite; its first file comes first."""
    began = time.time() - since_start()
    environment = {
        "TESTS_UNTIL": f"{began + BEGIN_BY:.2f}",
        "TESTS_END": f"{began + STOP_AT:.2f}",
        "TESTS_DEPTH": "quick",
        # What hangs is stopped when the time is up, so nothing is measured to bound it sooner.
        "TESTS_STRETCH": f"{max(1.0, os.getloadavg()[0]):.2f}",
        "TEST_PREPARED_KEPT": str(_PREPARED),
    }
    options = ("-p", "tests.until", "-p", "no:xdist", "--durations", "3")
    if name.startswith("pure"):
        stage = pure_tests(name, *options, *files, environment=environment)
    else:
        marked = "browser" if name.startswith("browser") else DIRECT
        stage = desk_tests(name, *options, "-m", marked, *files, environment=environment)
    # A browser may be missing here, and that fails no quick run; no test left over is no failure either.
    return replace(stage, environment={**stage.environment, "CI": ""}, empty=5)
