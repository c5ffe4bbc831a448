"""A copy of this tree for code with mistakes in it, and runs of pytest there."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from project.bootstrap import ROOT
from tests import costs, selection
from tests.bounds import NAME as STRETCH
from tests.bounds import stretched
from tests.project.mutations.mutation import Mutation

_LINE = re.compile(r"^(PASSED|FAILED|ERROR) (\S+::.+?)(?: - (.*))?$", re.MULTILINE)
# How pytest shows that an assertion failed, in the test or in what it calls, or `pytest.raises` or `pytest.fail`.
_ASSERTION = re.compile(r"assert |AssertionError|Failed: ")
# A turn at which no test that is marked thorough comes, as long as there are fewer of them than turns.
_NO_TURN = str(selection.TURNS - 1)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run of pytest ended: its exit code, its lines (outcome, test, reason), and the end of its output.

    A test is named with its parameters for one of its cases, without them for all.
    """

    code: int
    lines: tuple[tuple[str, str, str], ...]
    output: str

    def passed(self, test: str) -> bool:
        """Whether the test ran, and passed in every case."""
        return {outcome for outcome, _ in self._cases(test)} == {"PASSED"}

    def failed(self, test: str) -> bool:
        """Whether an assertion failed in one of its cases."""
        return any(outcome == "FAILED" and _ASSERTION.search(reason) for outcome, reason in self._cases(test))

    def _cases(self, test: str) -> list[tuple[str, str]]:
        return [(outcome, reason) for outcome, name, reason in self.lines if test in {name, name.partition("[")[0]}]


class CopiedTree:
    """The files of this tree that git has or would take, in another folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs = 0
        listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
        for name in names:
            if name and (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)

    def run_broken(self, mutation: Mutation) -> Outcome:
        """Run the tests of the mutation with its mistake, and take the mistake back."""
        path = self._folder / mutation.file
        path.write_text(mutation.broken())
        # What Python compiled before counts for a file of the same time and size.
        os.utime(path, (self._runs, self._runs))
        try:
            return self.run(mutation.tests, database=mutation.database, keeps_bytecode=False)
        finally:
            shutil.copy2(mutation.path, path)

    def run(self, tests: Sequence[str], *, database: str, keeps_bytecode: bool = True) -> Outcome:
        """Run these tests in a process of their own, those of them that every `make test` takes on this database."""
        self._runs += 1
        environment = self._environment(database)
        if not keeps_bytecode:
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
        command = [sys.executable, "-m", "pytest", *tests, "-q", "-rA", "--tb=short", "-p", "no:cacheprovider", "-n0"]
        ended = subprocess.run(command, cwd=self._folder, env=environment, capture_output=True, text=True, check=False)
        if database == "postgres":
            _drop(environment["DATABASE_URL"])
        # What a test prints stands before the summary and may look like a line of it.
        summary = ended.stdout.rpartition("short test summary info")[2]
        return Outcome(ended.returncode, tuple(_LINE.findall(summary)), f"{ended.stdout[-6000:]}\n{ended.stderr}")

    def _environment(self, database: str) -> dict[str, str]:
        """The run is like one more worker of this one: it has the same servers, and a copy of the same database."""
        ours = {name: value for name, value in os.environ.items() if name not in {costs.FILE, "TESTS_SHARD"}}
        return {
            **ours,
            "COLUMNS": "1000",
            "DATABASE_URL": f"{os.environ['DATABASE_URL'].rpartition('/')[0]}/mutation_{os.getpid()}_{self._runs}",
            "PYTEST_XDIST_WORKER": "mutation",
            "TESTS_DEPTH": "usual",
            "TESTS_TURN": _NO_TURN,
            "TEST_DATABASE": database,
            STRETCH: str(stretched(1)),
        }


def _drop(address: str) -> None:
    """Remove the test database of a run at this address; the server is that of the tests around it."""
    import psycopg

    server, _, name = address.rpartition("/")
    with psycopg.connect(f"{server}/postgres", autocommit=True) as rows:
        rows.execute(f'DROP DATABASE IF EXISTS "test_{name}" WITH (FORCE)')
