"""Quiet hours are hours of the wall where somebody lives."""

from datetime import UTC, datetime, time

import pytest

from desk.notifications import audiences
from desk.notifications.models import Availability


def at(day, hour, minute=0, month=11):
    return datetime(2026, month, day, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "begins", "ends", "now", "until"),
    [
        ("UTC", 22, 7, at(20, 21, 59), at(20, 21, 59)),
        ("UTC", 22, 7, at(20, 22), at(21, 7)),
        ("UTC", 22, 7, at(21, 3), at(21, 7)),
        ("UTC", 22, 7, at(21, 7), at(21, 7)),
        ("UTC", 12, 13, at(20, 12, 30), at(20, 13)),
        ("UTC", 9, 9, at(20, 9), at(20, 9)),
        ("Europe/Berlin", 22, 7, at(20, 21, 30), at(21, 6)),
        ("Asia/Kathmandu", 22, 7, at(20, 18), at(21, 1, 15)),
        # The night in which the clocks go back is an hour longer.
        ("Europe/Berlin", 22, 7, at(24, 21, month=10), at(25, 6, month=10)),
    ],
)
def test_a_message_waits_until_quiet_hours_end(zone, begins, ends, now, until):
    found = Availability(quiet_from=time(begins), quiet_until=time(ends))
    assert audiences.quiet_until(found, now, zone=zone) == until


def test_nobody_who_said_nothing_is_left_in_peace():
    assert audiences.quiet_until(None, at(20, 3), zone="UTC") == at(20, 3)
    assert audiences.quiet_until(Availability(), at(20, 3), zone="UTC") == at(20, 3)
