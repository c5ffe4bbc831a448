"""How hours and figures are written for whoever reads, and that nothing which is kept or sent is written so."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desk.personal import formats
from desk.personal.models import Grouping, PersonalSettings
from desk.templatetags.desk import amount, cents, hour, instant, iso, kept_amount, moment, second_of_day, zone_name

WINTER = datetime(2026, 11, 20, 23, 30, 5, tzinfo=UTC)
SUMMER = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)


def read_by(zone="UTC", grouping=Grouping.COMMA):
    found = formats.for_settings(PersonalSettings(zone=zone, grouping=grouping))
    return formats.using(lambda: found)


@pytest.mark.parametrize(
    ("zone", "when", "written"),
    [
        ("UTC", WINTER, "2026-11-20 23:30:05 UTC"),
        ("Europe/Berlin", WINTER, "2026-11-21 00:30:05 UTC+1"),
        ("Europe/Berlin", SUMMER, "2026-07-01 14:00:00 UTC+2"),
        ("Europe/London", WINTER, "2026-11-20 23:30:05 UTC"),
        ("Asia/Kathmandu", WINTER, "2026-11-21 05:15:05 UTC+5:45"),
        ("America/St_Johns", WINTER, "2026-11-20 20:00:05 UTC\u22123:30"),
        ("Mars/Olympus", WINTER, "2026-11-20 23:30:05 UTC"),
        ("../../etc/passwd", WINTER, "2026-11-20 23:30:05 UTC"),
    ],
)
def test_a_moment_says_how_far_from_utc_it_is(zone, when, written):
    with read_by(zone):
        assert instant(when) == written
        assert iso(when) == when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        assert f'datetime="{iso(when)}"' in moment(when)
        assert written in moment(when)


def test_the_end_of_the_calendar_has_an_hour_everywhere():
    with read_by("Asia/Tokyo"):
        assert instant(datetime.max.replace(tzinfo=UTC)) == "9999-12-31 23:59:59 UTC"


def test_the_hour_alone_and_the_head_of_a_column():
    with read_by("America/New_York"):
        assert (hour(WINTER), second_of_day(WINTER), zone_name()) == (
            "18:30 UTC\u22125",
            "18:30:05 UTC\u22125",
            "New York time",
        )
    assert (hour(WINTER), zone_name()) == ("23:30 UTC", "UTC")


@pytest.mark.parametrize(
    ("grouping", "written"),
    [
        (Grouping.COMMA, "\u22121,234,567.8900 BCH"),
        (Grouping.SPACE, "\u22121\u202f234\u202f567.8900 BCH"),
        (Grouping.APOSTROPHE, "\u22121\u2019234\u2019567.8900 BCH"),
        (Grouping.NONE, "\u22121234567.8900 BCH"),
    ],
)
def test_thousands_are_grouped_as_one_likes_and_the_decimal_sign_is_a_point(grouping, written):
    value = Decimal("-1234567.89")
    with read_by(grouping=grouping):
        assert amount(value, "BCH") == written
        assert cents(Decimal("999.5")) == "999.50"
        assert kept_amount(value, "BCH") == "\u22121,234,567.8900 BCH", "a sentence that is kept is everybody's"
    assert dict(Grouping.choices)[grouping] == formats.figure(abs(value), mark=formats.MARKS[grouping])


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20, places=12))
def test_no_grouping_changes_a_figure(value):
    for mark in formats.MARKS.values():
        text = formats.figure(value, mark=mark)
        assert Decimal((text.replace(mark, "") if mark else text).replace(formats.MINUS, "-")) == value


def test_nobody_reads_unless_somebody_does_and_it_ends_with_them():
    with read_by("Asia/Tokyo", Grouping.NONE):
        with read_by():
            assert formats.current() == formats.USUAL
        assert formats.current().zone == "Asia/Tokyo"
    assert formats.current() == formats.USUAL


def test_every_zone_that_is_offered_can_be_read():
    assert formats.zones()[0] == "UTC"
    assert len(formats.zones()) > 300
    for zone in formats.zones():
        found = formats.for_settings(PersonalSettings(zone=zone))
        assert found.zone == zone
        assert "UTC" in found.written(WINTER, "%H:%M")
