"""Bounds in time: against what hangs, never on how fast a machine is, so they are stretched where it is slow."""

import os
from functools import cache
from pathlib import Path

import pytest
import pytest_timeout

from project.verification import calibration

# The environment's names for the factor: as a quick run sets it, and of the file to which `verify` writes it again and
# again while a stage runs.
NAME, FILE = "TESTS_STRETCH", "TESTS_STRETCH_FILE"


def _factor() -> float:
    if FILE in os.environ:
        # Empty for the moment in which it is written.
        return float(Path(os.environ[FILE]).read_text() or 1.0)
    return float(os.environ.get(NAME) or _measured())


@cache
def _measured() -> float:
    return calibration.measure().stretch


def stretched(seconds: float) -> float:
    """So many seconds of a machine at rest, in seconds of this machine as it is now."""
    return seconds * _factor()


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: pytest_timeout.Settings) -> bool | None:
    """The bound on a whole test is stretched as well."""
    return pytest_timeout.pytest_timeout_set_timer(item, settings._replace(timeout=stretched(settings.timeout)))
