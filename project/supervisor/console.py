"""What the person at the terminal reads: every line with the name of who said it."""

import os
import sys

_WIDTH = 9
_LONGEST_LINE = 8_000
_COLOURS = (36, 33, 35, 32, 34, 96, 95)


class Console:
    """Prints lines with a name before them; survives a reader that has gone away."""

    def __init__(self) -> None:
        #: If set, the output of `manage.py up` has no colours. [default: not set]
        self._coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        self._names: list[str] = []

    def say(self, sentence: str) -> None:
        """A line of the supervisor's own."""
        self._print(sentence)

    def pass_on(self, name: str, line: str) -> None:
        """A line of the child `name`, cut when it is longer than any line of ours could be."""
        if name not in self._names:
            self._names.append(name)
        prefix = f"{name:<{_WIDTH}}|"
        if self._coloured:
            prefix = f"\x1b[{_COLOURS[self._names.index(name) % len(_COLOURS)]}m{prefix}\x1b[0m"
        self._print(f"{prefix} {line[:_LONGEST_LINE]}")

    def _print(self, text: str) -> None:
        try:
            print(text, flush=True)
        except (BrokenPipeError, OSError):
            # The reader has gone (`make run | head`); the house goes on, and nobody reads it.
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115
