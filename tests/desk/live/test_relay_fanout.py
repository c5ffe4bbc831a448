"""What waits for whom, and what is written: the fanout with connections that take as much as a test says."""

import asyncio
import gc
import json
import weakref
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desk.live import fanout, frames
from desk.live.fanout import Browser, Fanout
from tests.bounds import stretched


class Line:
    """A connection. `takes` says whether its peer reads; what is not taken stays `untaken`."""

    def __init__(self) -> None:
        self.when_taken: Callable[[], None] | None = None
        self.takes = True
        self.written: list[bytes] = []
        self.at: list[float] = []
        self.code: int | None = None
        self.is_cut = False
        self._untaken = 0

    @staticmethod
    def frame(text: str) -> bytes:
        return text.encode()

    def write(self, frame: bytes) -> bool:
        assert not self._untaken, "written to although the peer does not keep up"
        self.written.append(frame)
        self.at.append(asyncio.get_running_loop().time())
        self._untaken = 0 if self.takes else len(frame)
        return self.takes

    def untaken(self) -> int:
        return self._untaken

    def read(self, left: int = 0) -> None:
        """The peer reads all but so many bytes."""
        self._untaken, self.takes = left, not left
        if not left and self.when_taken:
            self.when_taken()

    def end(self, code: int) -> None:
        self.code = code

    def cut(self) -> None:
        self.is_cut = True

    def heard(self) -> list[Any]:
        """Everything that was written, object by object."""
        return [one for frame in self.written for one in flat(json.loads(frame))]


def flat(frame: Any) -> list[Any]:
    return frame if isinstance(frame, list) else [frame]


def browser(room: Fanout, *topics: str) -> tuple[Browser, Line]:
    line = Line()
    made = Browser(key="k", socket=line)
    room.add(made)
    room.follow(made, topics)
    return made, line


def run(test: Callable[[Fanout], Coroutine[Any, Any, None]]) -> None:
    async def inside() -> None:
        await test(Fanout())

    asyncio.run(inside())


def hint(number: int) -> str:
    return json.dumps({"topic": "open", "hint": {"number": number}})


def tick(topic: str, last: object) -> str:
    return json.dumps({"topic": topic, "tick": {"last": last}})


async def turn() -> None:
    """One turn of the loop, in which hints are written."""
    await asyncio.sleep(0)
    await asyncio.sleep(0)


async def slot(line: Line, frames: int) -> None:
    """Until so many frames were written."""
    await until(lambda: len(line.written) >= frames)


async def until(came: Callable[[], object]) -> None:
    async with asyncio.timeout(stretched(10)):
        while not came():  # noqa: ASYNC110 (what is waited for has no event)
            await asyncio.sleep(0.002)


def test_what_one_turn_brings_is_one_frame_made_once_for_all() -> None:
    async def test(room: Fanout) -> None:
        lines = [browser(room, "open")[1] for _ in range(3)]
        _, other = browser(room, "else")
        for number in range(5):
            room.hint("open", hint(number))
        await turn()
        assert [len(line.written) for line in lines] == [1, 1, 1]
        assert lines[0].written[0] is lines[1].written[0] is lines[2].written[0]
        assert [one["hint"]["number"] for one in lines[0].heard()] == [0, 1, 2, 3, 4]
        room.hint("open", hint(5))
        await turn()
        assert json.loads(lines[0].written[1]) == {"topic": "open", "hint": {"number": 5}}, "one alone is no array"
        assert not other.written

    run(test)


def test_the_same_hint_waiting_twice_is_sent_once_and_later_again() -> None:
    async def test(room: Fanout) -> None:
        _, line = browser(room, "open")
        for number in (1, 2, 1, 1, 2):
            room.hint("open", hint(number))
        await turn()
        assert [one["hint"]["number"] for one in line.heard()] == [1, 2]
        room.hint("open", hint(1))
        await turn()
        assert [one["hint"]["number"] for one in line.heard()] == [1, 2, 1]

    run(test)


def test_an_answer_said_again_counts_at_its_later_place() -> None:
    async def test(room: Fanout) -> None:
        made, line = browser(room)
        for text in ('{"followed": ["a"]}', '{"followed": ["a", "b"]}', '{"followed": ["a"]}'):
            room.say(made, text)
        await turn()
        assert line.heard()[-1] == {"followed": ["a"]}

    run(test)


def test_of_the_ticks_of_a_slot_the_latest_is_sent_and_slots_are_apart() -> None:
    async def test(room: Fanout) -> None:
        _, line = browser(room, "quote:A", "quote:B")
        _, half = browser(room, "quote:B")
        began = asyncio.get_running_loop().time()
        for number in range(1_000):
            room.tick("quote:A", tick("quote:A", number))
            room.tick("quote:B", tick("quote:B", -number))
            room.tick("quote:C", tick("quote:C", 0))
            if number % 10 == 0:
                await asyncio.sleep(0.001)
        room.tick("quote:A", tick("quote:A", "last"))
        await until(lambda: {"topic": "quote:A", "tick": {"last": "last"}} in line.heard())
        # Counted from the beginning: one that a busy machine wrote late is followed by the next in less than a slot.
        assert all(at - began >= place * fanout.TICK_SECONDS - 0.002 for place, at in enumerate(line.at))
        assert [one for one in line.heard() if one["topic"] == "quote:B"] == half.heard()
        assert half.heard()[-1]["tick"] == {"last": -999}
        values = [one["tick"]["last"] for one in half.heard()]
        assert values == sorted(values, reverse=True), "never an older one after a newer one"

    run(test)


def test_who_joins_late_gets_the_latest_tick_and_nothing_is_kept_for_nobody() -> None:
    async def test(room: Fanout) -> None:
        first, line = browser(room, "quote:A")
        room.tick("quote:A", tick("quote:A", 1))
        await slot(line, 1)
        _, late = browser(room, "quote:A")
        await slot(late, 1)
        assert late.heard() == line.heard() == [{"topic": "quote:A", "tick": {"last": 1}}]
        for one in list(room.browsers):
            room.unfollow(one, ["quote:A"])
        room.tick("quote:A", tick("quote:A", 2))
        room.follow(first, ["quote:A"])
        room.tick("quote:A", tick("quote:A", 3))
        await slot(line, 2)
        assert line.heard()[1:] == [{"topic": "quote:A", "tick": {"last": 3}}]

    run(test)


def test_a_topic_left_and_followed_again_before_its_slot_costs_nobody_a_tick() -> None:
    async def test(room: Fanout) -> None:
        made, line = browser(room, "quote:A", "quote:B")
        room.tick("quote:A", tick("quote:A", 1))
        room.tick("quote:B", tick("quote:B", 1))
        room.unfollow(made, ["quote:A"])
        room.follow(made, ["quote:A"])
        await slot(line, 1)
        assert line.heard() == [{"topic": "quote:B", "tick": {"last": 1}}]

    run(test)


def test_a_slow_browser_gets_coalesced_ticks_and_all_hints_and_delays_nobody() -> None:
    async def test(room: Fanout) -> None:
        _, slow = browser(room, "open", "quote:A")
        _, quick = browser(room, "open", "quote:A")
        slow.takes = False
        for number in range(fanout.MOST_WAITING):
            room.hint("open", hint(number))
            room.tick("quote:A", tick("quote:A", number))
            await turn()
        await slot(quick, fanout.MOST_WAITING + 2)
        assert len(slow.written) == 1, "nothing is written to one who does not take it"
        assert [one["hint"]["number"] for one in quick.heard() if "hint" in one] == list(range(fanout.MOST_WAITING))
        slow.read()
        await slot(slow, 3)
        hints = [one["hint"]["number"] for one in slow.heard() if "hint" in one]
        assert hints == list(range(fanout.MOST_WAITING))
        assert slow.heard()[-1] == {"topic": "quote:A", "tick": {"last": fanout.MOST_WAITING - 1}}
        assert sum("tick" in one for one in slow.heard()) <= 2

    run(test)


def test_too_many_hints_for_one_who_does_not_read_end_it() -> None:
    async def test(room: Fanout) -> None:
        made, slow = browser(room, "open")
        _, quick = browser(room, "open")
        slow.takes = False
        for number in range(fanout.MOST_WAITING + 2):
            assert slow.code is None
            room.hint("open", hint(number))
            await turn()
        assert slow.code == fanout.TRY_LATER
        assert made not in room.browsers
        assert not made.hints
        assert quick.code is None
        await until(lambda: slow.is_cut)

    run(test)


def test_only_who_takes_nothing_at_all_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fanout, "SLOW_SECONDS", 0.0)

    async def test(room: Fanout) -> None:
        _, slow = browser(room, "open")
        slow.takes = False
        room.hint("open", hint(1))
        await turn()
        for left in range(20, 0, -1):
            slow.read(left)
            room.let_go_slow()
            assert slow.code is None, "it reads, slowly"
        room.let_go_slow()
        assert slow.code == fanout.TRY_LATER

    run(test)


@given(st.lists(st.integers(min_value=0, max_value=16_000), min_size=1, max_size=60))
@settings(max_examples=40, deadline=None)
def test_frames_are_bounded_whole_and_in_order(lengths: list[int]) -> None:
    texts = tuple(json.dumps({"n": number, "x": "x" * length}) for number, length in enumerate(lengths))
    made = frames.framed(texts, str.encode)
    assert sum(count for count, _ in made) == len(texts)
    assert [one["n"] for _, frame in made for one in flat(json.loads(frame))] == list(range(len(texts)))
    assert max(len(frame) for _, frame in made) <= frames.FRAME_CHARACTERS + max(map(len, texts)) + 2


def test_one_who_stops_reading_between_frames_gets_the_rest_later() -> None:
    async def test(room: Fanout) -> None:
        _, slow = browser(room, "open")
        slow.takes = False
        for number in range(80):
            room.hint("open", json.dumps({"number": number, "x": "x" * 1_900}))
        await turn()
        assert len(slow.written) == 1
        assert max(map(len, slow.written)) <= frames.FRAME_CHARACTERS + 2_000, "at most one frame is with the system"
        slow.read()
        await turn()
        assert [one["number"] for one in slow.heard()] == list(range(80))

    run(test)


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ["hint", "hint", "tick", "tick", "follow", "unfollow", "stall", "read", "leave", "come", "turn"]
        ),
        st.integers(0, 3),
        st.integers(0, 2),
    ),
    max_size=60,
)


@given(ACTIONS)
@settings(max_examples=60, deadline=None)
def test_whatever_happens_order_holds_and_nothing_is_left_behind(actions: list[tuple[str, int, int]]) -> None:
    """At the end everybody reads: each has the latest tick of what it follows, and every hint in order."""

    async def test(room: Fanout) -> None:
        people = [browser(room, "a:0") for _ in range(4)]
        number, last = 0, {}
        for action, who, key in actions:
            made, line = people[who]
            topic, number = f"a:{key}", number + 1
            if action == "hint":
                room.hint(topic, json.dumps({"topic": topic, "hint": number}))
            elif action == "tick":
                last[topic] = number
                room.tick(topic, json.dumps({"topic": topic, "tick": number}))
            elif action in {"follow", "unfollow"} and not made.ended:
                getattr(room, action)(made, [topic])
            elif action == "stall":
                line.takes = False
            elif action == "read":
                line.read()
            elif action == "leave":
                room.remove(made)
            elif action == "come" and made.ended:
                people[who] = browser(room, topic)
            elif action == "turn":
                await turn()
        await everybody_reads(room, people)
        for made, line in people:
            check(line, made, room)
            room.remove(made)
        assert_empty(room)

    run(test)


async def everybody_reads(room: Fanout, people: list[tuple[Browser, Line]]) -> None:
    def is_quiet() -> bool:
        for _, line in people:
            line.read()
        return not (room._changed or any(made.hints or made.ticks for made, _ in people))

    await until(is_quiet)


def check(line: Line, made: Browser, room: Fanout) -> None:
    hints = [one["hint"] for one in line.heard() if "hint" in one]
    assert hints == sorted(hints)
    assert len(set(hints)) == len(hints)
    for topic in made.topics:
        ticks = [one["tick"] for one in line.heard() if "tick" in one and one["topic"] == topic]
        assert ticks == sorted(ticks)
        latest = room._latest.get(topic)
        assert latest is None or ticks[-1] == json.loads(latest)["tick"]


def assert_empty(room: Fanout) -> None:
    for kept in (room.browsers, room._followers, room._latest, room._stuck):
        assert not kept


def test_a_browser_that_left_is_freed() -> None:
    async def test(room: Fanout) -> None:
        made, line = browser(room, "open", "quote:A")
        _, stays = browser(room, "open")
        line.takes = False
        for number in range(50):
            room.hint("open", hint(number))
            room.tick("quote:A", tick("quote:A", number))
            await turn()
        await slot(stays, 50)
        room.remove(made)
        gone = weakref.ref(made)
        del made, line
        room.hint("open", hint(50))
        await turn()
        gc.collect()
        assert gone() is None
        assert "quote:A" not in room._followers

    run(test)


def test_after_the_end_of_all_nobody_comes_in() -> None:
    async def test(room: Fanout) -> None:
        first, line = browser(room, "open")
        room.hint("open", hint(1))
        room.close_all()
        late = Line()
        room.add(Browser(key="k", socket=late))
        room.close(first, 4401)
        assert (line.code, late.code) == (fanout.TRY_LATER, fanout.TRY_LATER)
        assert_empty(room)

    run(test)


def test_whoever_is_limited_to_accounts_hears_of_the_whole_desk_only_that_it_changed() -> None:
    async def test(room: Fanout) -> None:
        line = Line()
        limited = Browser(key="k", socket=line, is_limited=True)
        room.add(limited)
        room.follow(limited, ("open", "order:7"))
        _, other = browser(room, "open")
        of_one = json.dumps({"topic": "order:7", "hint": {"state": "placed"}})
        for text in (hint(1), hint(2)):
            room.hint("open", text)
        room.hint("order:7", of_one)
        await turn()
        assert line.heard() == [{"topic": "open", "hint": {}}, json.loads(of_one)]
        assert [one["hint"]["number"] for one in other.heard()] == [1, 2]

    run(test)
