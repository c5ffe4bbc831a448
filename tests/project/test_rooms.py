"""What the rooms of this house declare to the desk, all together."""

from collections import Counter

import pytest

from desk import rooms, topics


@pytest.mark.parametrize("part", ["topics", "checks", "replays", "guards", "rewrappers", "demo"])
def test_no_two_rooms_use_the_same_name(part):
    """The later would take the place of the earlier without a word."""
    names = Counter(name for room in rooms._declared for name in getattr(room, part))
    assert names
    assert set(names.values()) == {1}, names


def test_every_declared_topic_can_be_followed_by_its_name():
    for room in rooms._declared:
        for name in room.topics:
            assert topics.split(name) == (name, "")
        assert set(room.ticking) <= set(room.topics)


def test_the_desk_asks_for_readiness_in_the_order_of_the_apps():
    assert list(rooms.checks())[:3] == ["database", "broker", "exchange"]
    assert list(rooms.checks())[-1] == "chain"
