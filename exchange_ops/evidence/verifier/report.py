"""Check an evidence bundle of a payout, or of all payouts of a period, with nothing but Python's standard library.

Made by Countersign, which writes a copy into each bundle. Take yours from a desk that you trust, or read this one
first. It opens the bundle alone: no database, no network. Exit status: 0 if every check holds, 1 if one fails, 2 if the
file can't be read as a bundle.
"""

from collections.abc import Callable
from typing import Any


class Report:
    """The checks in their order, each with its name, whether it holds and a sentence; and what had to be believed."""

    def __init__(self) -> None:
        self.checks: list[tuple[str, bool, str]] = []
        self.beliefs: list[str] = []

    def check(self, name: str, holds: bool, sentence: str, otherwise: str = "") -> bool:
        """Note a check; `otherwise` is the sentence if it fails. Returns whether it holds."""
        self.checks.append((name, bool(holds), sentence if holds else otherwise or sentence))
        return bool(holds)

    def fails(self, name: str, sentence: str) -> None:
        """Note a check that failed."""
        self.check(name, False, sentence)

    def attempt(self, check: Callable[..., None], *arguments: Any, **named: Any) -> None:
        """Make checks; where a member lacks what they read, that is a check that failed."""
        try:
            check(*arguments, **named)
        except (
            KeyError,
            TypeError,
            AttributeError,
            ValueError,
            IndexError,
            ArithmeticError,
            RecursionError,
        ) as problem:
            self.fails("content", f"A member lacks what belongs into it ({type(problem).__name__}: {problem}).")

    def believe(self, sentence: str) -> None:
        """Note, once, what no file can show."""
        if sentence not in self.beliefs:
            self.beliefs.append(sentence)

    @property
    def failures(self) -> list[str]:
        """The names of the checks that failed."""
        return [name for name, holds, _ in self.checks if not holds]


def in_words(title: str, report: Report, manifest: dict[str, Any]) -> str:
    """What was checked, what was believed and what is not there yet, below a title; the last line is the result."""
    lines = [title, "", "Checked:"]
    lines += [f"  {'ok   ' if holds else 'FAILS'} {name}: {sentence}" for name, holds, sentence in report.checks]
    lines += ["", "Believed, because no file can show it:", *(f"  - {sentence}" for sentence in report.beliefs)]
    if manifest.get("missing"):
        lines += ["", "Not there yet:", *(f"  - {sentence}" for sentence in manifest["missing"])]
    names = ", ".join(dict.fromkeys(report.failures))
    ending = f"NOT VERIFIED. Failed: {names}." if names else f"VERIFIED. All {len(report.checks)} checks hold."
    return "\n".join([*lines, "", ending])
