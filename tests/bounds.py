"""Bounds in time: against what hangs, never on how fast a machine is, so they are stretched where it is slow."""

import os
from functools import cache

import pytest
import pytest_timeout

from project.verification import calibration

NAME = "TESTS_STRETCH"  # the environment's name for the factor that `verify` measured as the stage began


@cache
def _factor() -> float:
    return float(os.environ.get(NAME) or calibration.measure().stretch)


def stretched(seconds: float) -> float:
    """So many seconds of a machine at rest, in seconds of this machine as it is now."""
    return seconds * _factor()


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: pytest_timeout.Settings) -> bool | None:
    """The bound on a whole test is stretched as well."""
    return pytest_timeout.pytest_timeout_set_timer(item, settings._replace(timeout=stretched(settings.timeout)))
