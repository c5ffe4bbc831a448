"""How long ago something was, as pages say it."""

from datetime import UTC, datetime, timedelta

import pytest

from desk.templatetags.desk import ago

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "says"),
    [
        (-90_000, "25 h ago"),
        (-12.9, "12 s ago"),
        (-0.4, "0 s ago"),
        (0, "0 s ago"),
        # Read while the page was being drawn.
        (0.4, "0 s ago"),
        (1, "in 1 s"),
        (240, "in 4 min"),
    ],
)
def test_an_age_counts_back_and_what_is_due_counts_down(seconds, says):
    assert ago(NOW + timedelta(seconds=seconds), NOW) == says


def test_what_never_was_has_no_age():
    assert ago(None, NOW) == "never"
