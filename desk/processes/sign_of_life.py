"""The line that a process without a port prints now and then, which shows that it is at work and not hung.

A process prints the line once when it takes work. Where `SIGNS_OF_LIFE` is set, as the supervisor of `up` sets it for
its children, the loop that does the work repeats it every few seconds.
"""

import os

AT_WORK = "is at work"
VARIABLE = "SIGNS_OF_LIFE"
EVERY_SECONDS = 5


def first() -> None:
    """Print that this process takes work from now on."""
    print(AT_WORK, flush=True)  # noqa: T201


def again() -> None:
    """Print the line again after a round of work, where somebody listens for it."""
    #: Set by `manage.py up` for its children: a process without a port then says every few seconds that it is at work.
    #: [default: not set]
    if os.environ.get(VARIABLE):
        first()
