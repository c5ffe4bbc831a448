"""What one mutation is: a mistake in the code about money, and the tests of `make test` that catch it."""

from dataclasses import dataclass
from pathlib import Path

from project.bootstrap import ROOT


@dataclass(frozen=True, slots=True)
class Mutation:
    """One mistake, written into a file: `old`, which stands there exactly once, becomes `new`.

    `name` says in plain words what goes wrong then. Each of `tests` fails with the mistake, by an assertion, on the
    database on which `make test` runs it: PostgreSQL with the mark `engine`, else SQLite (tests/selection.py).
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    is_postgresql: bool = False

    @property
    def path(self) -> Path:
        """The file in this tree."""
        return ROOT / self.file

    @property
    def database(self) -> str:
        """The TEST_DATABASE on which the tests run."""
        return "postgres" if self.is_postgresql else "sqlite"

    def broken(self) -> str:
        """The text of the file with the mistake. Raises ValueError where `old` does not stand there exactly once."""
        text = self.path.read_text()
        if (places := text.count(self.old)) != 1:
            raise ValueError(f"{self.file} has the text of the mutation {self.name!r} {places} times, not once.")
        return text.replace(self.old, self.new)
