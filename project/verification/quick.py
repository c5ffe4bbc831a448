"""`verify --quick`: the tests that reach what changed, the most direct first, and what is cheap to ask of all files."""

import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from project.bootstrap import ROOT
from project.verification import reach
from project.verification.stages import DIRECT, PURE, ROOMS, Stage, desk_tests, pure_tests

_MAIN = ("origin/main", "main")
# No test begins later than this after the start; so all of it ends within a minute.
_SECONDS_TO_BEGIN = 38
# More files than these can't be read, let alone run, in that time.
_MOST_FILES = 24  # of each stage
_EVERYBODYS = ("lint", "format", "templates", "imports")


class CannotCompare(Exception):
    """It can't be told what changed; the text says why."""


def chosen(known: Sequence[Stage]) -> list[Stage]:
    """The stages of a quick run, after a word on what changed, what of it no test reaches, and what is left out."""
    base, changed = changes()
    print(f"{len(changed)} files changed since {base}.")
    if not changed:
        return []
    reached = reach.tests_of(changed)
    if reached.untested:
        print(f"No test was found by imports or names for: {', '.join(reached.untested)}.")
    print(
        "Left out: types, migrations, deploy, api schema, compose, static files, PostgreSQL, the whole house,", end=" "
    )
    print(f"tests more than {reach.MOST_STEPS} imports away, and what doesn't begin in time, named below.", flush=True)
    return [stage for stage in known if stage.name in _EVERYBODYS] + _test_stages(reached.tests)


def changes() -> tuple[str, tuple[str, ...]]:
    """Since where, and which files: committed after the main branch, changed or new in the working tree."""
    main = next((name for name in _MAIN if _git("rev-parse", "--verify", "--quiet", name)), "")
    base = _git("merge-base", "HEAD", main) if main else _git("rev-parse", "HEAD")
    if not base:
        raise CannotCompare("This is no clone with a commit: git can't tell what changed. `make test` runs everything.")
    listed = _git("diff", "--name-only", base) + "\n" + _git("ls-files", "--others", "--exclude-standard")
    return f"{main or 'HEAD'} ({base[:9]})", tuple(sorted(set(listed.split("\n")) - {""}))


def _git(*words: str) -> str:
    try:
        ended = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return ended.stdout.strip() if ended.returncode == 0 else ""


def _test_stages(steps: Mapping[str, int]) -> list[Stage]:
    """Up to three stages that begin no test after the deadline; in each the most direct files first."""
    files = sorted((path for path in steps if (ROOT / path).exists()), key=lambda path: (steps[path], path))
    pure = [path for path in files if _is_in(path, [folder for folders in PURE.values() for folder in folders])]
    browsing = [path for path in files if _is_in(path, ROOMS["browser"]) and "mark.browser" in _text(path)]
    rest = [path for path in files if path not in pure and not _is_in(path, [*ROOMS["house"], "tests/e2e"])]
    until = {"TESTS_UNTIL": str(time.time() + _SECONDS_TO_BEGIN)}
    hasty = ("-p", "tests.until", "--durations", "3")
    single = ("-p", "no:xdist")
    pure, rest, browsing = (_nearest(kind) for kind in (pure, rest, browsing))
    wanted = []
    if pure:
        wanted.append(pure_tests("pure tests", *hasty, *single, *pure, environment=until))
    if rest:
        wanted.append(desk_tests("tests", *hasty, *single, "-m", DIRECT, *rest, environment=until))
    if browsing:
        wanted.append(desk_tests("browser tests", *hasty, *single, "-m", "browser", *browsing, environment=until))
    # A browser may be missing here, and that fails no quick run; no test left over is no failure either.
    return [replace(stage, environment={**stage.environment, "CI": ""}, empty=5) for stage in wanted]


def _nearest(files: list[str]) -> list[str]:
    """As many as can be read in time; the others are named as left out."""
    if files[_MOST_FILES:]:
        print(f"{len(files) - _MOST_FILES} test files were left out: {', '.join(files[_MOST_FILES:])}.", flush=True)
    return files[:_MOST_FILES]


def _is_in(path: str, rooms: Sequence[str]) -> bool:
    return any(Path(path).is_relative_to(room) for room in rooms)


def _text(path: str) -> str:
    return (ROOT / path).read_text()
