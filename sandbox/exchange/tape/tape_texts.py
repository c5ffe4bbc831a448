"""What was written about many symbols lately, to be told again as long as it holds.

An answer about a thousand symbols has a hundred thousand records, and most symbols trade a few times a day.
"""

from collections.abc import Callable, Hashable
from typing import Final, NamedTuple

from sandbox.exchange.tape.tape import Tape
from sandbox.exchange.tape.tape_records import Track

_MOST_QUESTIONS: Final = 4  # each may keep some ten megabytes


class _Text(NamedTuple):
    """A text, the instant at which the simulated market makes it wrong, and the trades told of when it was written."""

    text: str
    until_ms: int
    reported: int


class Texts:
    """What was written of the tape of one world."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._texts: dict[Hashable, dict[int, _Text]] = {}

    def text(self, question: Hashable, track: Track, at_ms: int, write: Callable[[], str]) -> str:
        """What `write` gives for a symbol at an instant, or gave for the same question since its latest trade.

        Time only runs on: `at_ms` is never before that of an earlier call.
        """
        texts = self._texts.pop(question, None)
        if texts is None:
            texts = {}
            while len(self._texts) >= _MOST_QUESTIONS:
                del self._texts[next(iter(self._texts))]
        self._texts[question] = texts  # behind all others: the first one is what was not asked for longest
        text, reported = texts.get(track.number), self._tape.reported(track)
        if text is None or text.reported != reported or at_ms >= text.until_ms:
            text = texts[track.number] = _Text(write(), self._tape.next_ms(track, at_ms), reported)
        return text.text
