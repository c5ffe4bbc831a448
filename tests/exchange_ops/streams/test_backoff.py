"""The pauses between two tries of a follower: computed here, slept nowhere."""

import pytest

from exchange_ops.streams.follower import Rhythm

CAUGHT_UP_WITHIN_MS = 5_000
CONNECTING_AND_LOADING_MS = 1_500  # with much to spare


def test_pauses_double_up_to_their_bound():
    pauses = [Rhythm().pause_ms(failures=number, dice=1) for number in range(1, 10)]
    assert pauses == [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]
    assert Rhythm().pause_ms(failures=10**6, dice=1) == 30_000


@pytest.mark.parametrize("failures", [1, 2, 5, 50, 10**6])
def test_an_exchange_that_was_away_for_however_long_is_followed_again_within_five_seconds(failures):
    pause = Rhythm().pause_ms(failures=failures, away=True, dice=1)
    assert pause + CONNECTING_AND_LOADING_MS < CAUGHT_UP_WITHIN_MS


def test_two_followers_hardly_ever_come_back_in_the_same_moment():
    for failures in (1, 4, 20):
        pauses = {Rhythm().pause_ms(failures=failures, dice=step / 100) for step in range(100)}
        most = Rhythm().pause_ms(failures=failures, dice=1)
        assert len(pauses) == 100
        assert (min(pauses), max(pauses) < most) == (most // 2, True)


def test_a_key_that_is_refused_is_tried_rarely_from_the_first_time_on():
    assert Rhythm().pause_ms(failures=1, turned_down=True, dice=0) == 30_000
    assert Rhythm().pause_ms(failures=9, turned_down=True, away=True, dice=1) == 60_000


def test_a_bound_that_is_shorter_holds_for_all():
    quick = Rhythm(first_pause_ms=50, longest_pause_ms=200)
    assert [quick.pause_ms(failures=9, away=away, dice=1) for away in (True, False)] == [200, 200]
