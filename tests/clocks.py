"""A pytest plugin (`-p tests.clocks`, TEST_CLOCK) that sets a whole run to another hour: it finds tests that know it.

TEST_CLOCK is a moment in ISO form, with a zone or in UTC ("2027-03-28T00:59:58"), or an offset in seconds from now
("-86400"). From the start of the run on, `time.time`, `datetime.now` and what is built on them tell that moment and go
on from it at their own speed; `time.monotonic` stays as it is. Child processes, PostgreSQL and OpenSSL keep the clock
of the machine: a test that compares with one of them is red here for that reason alone.
"""

import os
import time
from datetime import UTC, datetime

import pytest
import time_machine


def moment(text: str, *, now: float) -> datetime:
    """The moment that TEST_CLOCK names. Raises ValueError."""
    try:
        return datetime.fromtimestamp(now + float(text), UTC)
    except ValueError:
        facts = datetime.fromisoformat(text)
    return facts if facts.tzinfo else facts.replace(tzinfo=UTC)


class Clock:
    """The clock of one run, set back at its end."""

    def __init__(self, at: datetime) -> None:
        self.at = at
        self._traveller = time_machine.travel(at, tick=True)
        self._traveller.start()

    def pytest_report_header(self) -> str:
        """When the tests run, as they see it."""
        return f"clock: {self.at:%A %Y-%m-%d %H:%M:%S} UTC at the start"

    def pytest_unconfigure(self) -> None:
        """The machine's clock again."""
        self._traveller.stop()


def pytest_configure(config: pytest.Config) -> None:
    """Set the clock before anything of the project is imported by a test."""
    text = os.environ.get("TEST_CLOCK", "")
    try:
        at = moment(text, now=time.time())
    except ValueError:
        raise pytest.UsageError(
            f"TEST_CLOCK is {text!r}; it takes a moment like 2027-03-28T00:59:58 or an offset in seconds."
        ) from None
    config.pluginmanager.register(Clock(at), "set-clock")
