"""Reasons shared by several rooms why a column or table decides nothing (`desk.rows.witnessed`)."""

from typing import Final

TIMER: Final = "says when to look again; a wrong time delays or repeats a look, and a look decides nothing"
LEASE: Final = "keeps two workers apart for a minute; what was sent stands in the call"
SENTENCE: Final = "a sentence about the last try, for people"
READ_AGAIN: Final = "the exchange's own figure, read again from it"
CLOCK: Final = "when the row was last written"
COPY: Final = "a copy of what the exchange says, read again from it"
QUESTION: Final = "a question for the exchange, and its answer, asked again when it is needed"
