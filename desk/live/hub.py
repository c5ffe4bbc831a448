"""The relay of one event loop: the one member of the channel-layer group for all its browsers.

It begins with the first browser and ends with the last. What it is sent it hands to the fanout. When anything may have
been lost (the broker is away, a batch is missing, who may follow what can't be asked), it ends and every browser is
sent away with 1013: a page that comes back reads everything again, and the next hub joins anew.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import structlog
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from prometheus_client import Counter

from desk import clock
from desk.live import announcements
from desk.live.fanout import TRY_LATER, Browser, Fanout
from desk.people import presence, session_keys

OPEN_SECONDS = 5.0
BEAT_SECONDS = 1.0
FIRST_BEAT_SECONDS = 0.1
MOST_STRIKES = 3
RECHECK_SECONDS = 3.0
SWEEP_SECONDS = 0.5
LEAVE_SECONDS = 2.0
CLOSE_SECONDS = 30.0
MOST_SENDERS = 1_000

SIGNED_OUT = 4401

IGNORED = Counter("countersign_relay_ignored_total", "Messages to the relay that could not be read", ["reason"])
_log = structlog.get_logger(__name__)
_hubs: dict[asyncio.AbstractEventLoop, "Hub"] = {}
_closing: set[asyncio.Task[None]] = set()


class BrokerAway(Exception):
    """Nothing can be heard at the moment; come again after a while."""


class HintsLost(Exception):
    """Something did not arrive, so nobody may trust what a page shows."""


@contextlib.asynccontextmanager
async def joined() -> AsyncIterator[Fanout]:
    """The fanout of this event loop, for as long as somebody needs it. Raises BrokerAway when nothing can be heard."""
    loop = asyncio.get_running_loop()
    hub = _hubs.get(loop) or _hubs.setdefault(loop, Hub())
    hub.users += 1
    try:
        await hub.wait_until_open()
        yield hub.fanout
    finally:
        hub.users -= 1
        if not hub.users:
            await hub.stop()


class Hub:
    """One membership in the group, what keeps it honest, and the browsers it is for."""

    def __init__(self) -> None:
        self.users = 0
        self.fanout = Fanout()
        self._loop = asyncio.get_running_loop()
        self._layer: Any = get_channel_layer()
        self._channel = ""
        self._open = asyncio.Event()
        self._sent = self._returned = 0
        self._numbers: dict[str, int] = {}
        self._is_over = False
        self._heard_by: list[object] = []
        self._life = asyncio.create_task(self._live())

    async def wait_until_open(self) -> None:
        """Until its own first beat came back, so that no later hint can be missed. Raises BrokerAway."""
        opening = asyncio.create_task(self._open.wait())
        try:
            await asyncio.wait({opening, self._life}, timeout=OPEN_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            opening.cancel()
        if not self._open.is_set() or self._is_over:
            self._give_up()
            raise BrokerAway

    async def stop(self) -> None:
        """Leave the group; nothing of this hub goes on."""
        self._is_over = True
        self._forget()
        self._life.cancel()
        await asyncio.wait({self._life}, timeout=2 * LEAVE_SECONDS)

    def _forget(self) -> None:
        if _hubs.get(self._loop) is self:
            del _hubs[self._loop]

    async def _live(self) -> None:
        try:
            self._channel = await self._layer.new_channel()
            await self._layer.group_add(announcements.RELAY, self._channel)
            async with asyncio.TaskGroup() as chores:
                for chore in (self._hear, self._beat, self._recheck, self._sweep):
                    chores.create_task(self._kept_up(chore))
        except* Exception as errors:  # whatever it is: those who depend on it come again, and find a new hub
            reasons = sorted({type(error).__name__ for error in errors.exceptions})
            _log.warning("relay.hub_ended", reasons=reasons, browsers=len(self.fanout.browsers))
            self._give_up()
        finally:
            self._forget()
            self.fanout.end_all()
            with contextlib.suppress(Exception):  # a broker that is away has forgotten the member anyway
                async with asyncio.timeout(LEAVE_SECONDS):
                    await self._layer.group_discard(announcements.RELAY, self._channel)

    async def _kept_up(self, chore: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """When one chore fails the browsers are told at once, however long the others take to end."""
        try:
            await chore()
        except Exception:
            self._give_up()
            raise

    def _give_up(self) -> None:
        """Send everybody away, and the connections of this loop with them: the next hub makes its own.

        The layer does not always find out what its connection still follows after the broker was away.
        """
        if self._is_over:
            return
        self._is_over = True
        self._forget()
        self.fanout.end_all()
        used = getattr(self._layer, "_layers", {}).pop(self._loop, None)
        if used is not None:
            task = self._loop.create_task(_closed(used))
            _closing.add(task)
            task.add_done_callback(_closing.discard)

    # Hearing ----------------------------------------------------------------------------------------------------------

    async def _hear(self) -> None:
        while True:
            try:
                message: Any = await self._layer.receive(self._channel)
            except (ValueError, TypeError) as problem:  # what the serializer raises for what it can't read
                _ignore(type(problem).__name__)
                message = None
            match message:
                case {"type": "relay.batch", "sender": str(), "number": int(), "kind": str(), "texts": list(texts)} if (
                    all(_is_pair(one) for one in texts)
                ):
                    self._hand_on(message)
                case {"type": "relay.beat", "hub": str(hub), "number": int(number)}:
                    if hub == self._channel:
                        self._note_beat(number)
                case None:
                    pass
                case _:
                    _ignore("shape")
            await asyncio.sleep(0)  # a flood must not keep the loop from writing

    def _hand_on(self, batch: dict[str, Any]) -> None:
        """A batch of ours that is missing in between is noticed by its number; so none hides behind an odd message."""
        sender, number = batch["sender"], batch["number"]
        before = self._numbers.pop(sender, None)
        self._numbers[sender] = number
        if before is not None and number != before + 1:
            raise HintsLost
        if len(self._numbers) > MOST_SENDERS:
            del self._numbers[next(iter(self._numbers))]
        tell = self.fanout.tick if batch["kind"] == "tick" else self.fanout.hint
        for topic, text in batch["texts"]:
            tell(topic, text)

    def _note_beat(self, number: int) -> None:
        """Beats travel like hints: one that is missing between two means that hints may be missing as well."""
        if self._open.is_set() and number > self._returned + 1:
            raise HintsLost
        self._returned = number
        if not self._open.is_set():
            self._heard_by = self._connections()
            self._open.set()

    def _connections(self) -> list[object]:
        """What the layer hears by now: it connects again without a word, and what was sent meanwhile is lost."""
        used = getattr(self._layer, "_layers", {}).get(self._loop)
        lines = [getattr(shard, "_pubsub", None) for shard in getattr(used, "_shards", [])]
        return [getattr(getattr(line, "connection", None), "_writer", None) for line in lines]

    async def _beat(self) -> None:
        """Send something to oneself all the time. What takes too long, or does not come back in time, is a strike.

        What can't be sent at all says that the broker was away, and then more than this may be lost.
        """
        strikes = 0
        while strikes < MOST_STRIKES:
            number, failures = self._sent + 1, 0
            beat = {"type": "relay.beat", "hub": self._channel, "number": number}
            try:
                async with asyncio.timeout(BEAT_SECONDS):
                    await self._layer.group_send(announcements.RELAY, beat)
                self._sent = number
            except TimeoutError:  # it may have left or not, so the next one has the same number
                failures = 1
            if self._is_over:  # the broker's library swallows a cancellation that comes while it connects or reads
                return
            await asyncio.sleep(BEAT_SECONDS if self._open.is_set() else FIRST_BEAT_SECONDS)
            if self._open.is_set() and self._connections() != self._heard_by:
                raise HintsLost
            is_well = self._returned == number or not self._open.is_set()
            strikes = 0 if is_well else strikes + 1 + failures
        raise BrokerAway

    # Who may still be here --------------------------------------------------------------------------------------------

    async def _recheck(self) -> None:
        """Ask again who they are and what they may follow."""
        ask = database_sync_to_async(presence.admitted_all)
        look = database_sync_to_async(session_keys.those_renewed)
        while True:
            await asyncio.sleep(RECHECK_SECONDS)
            wanted: dict[str, set[str]] = {}
            for browser in self.fanout.browsers:
                wanted.setdefault(browser.session_key, set()).update(browser.topics)
            may = await ask(wanted, now=clock.now())
            gone = [key for key, topics in may.items() if topics is None]
            renewed = await look(gone, now=clock.now()) if gone else set()
            for browser in list(self.fanout.browsers):
                if browser.session_key in renewed:
                    self.fanout.end(browser, TRY_LATER)  # it comes again at once, with the new key
                elif browser.session_key in may:  # else it came while we asked
                    self._apply(browser, wanted[browser.session_key], may[browser.session_key])

    def _apply(self, browser: Browser, asked: set[str], may: list[str] | None) -> None:
        if may is None:
            self.fanout.end(browser, SIGNED_OUT)
            return
        lost = sorted(browser.topics & asked.difference(may))
        if lost:
            self.fanout.unfollow(browser, lost)
            self.fanout.say(browser, answer(browser, lost))

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            self.fanout.let_go_slow()


def _is_pair(one: object) -> bool:
    return isinstance(one, list | tuple) and len(one) == 2 and all(isinstance(each, str) for each in one)


def _ignore(reason: str) -> None:
    IGNORED.labels(reason).inc()
    _log.warning("relay.message_ignored", reason=reason)


async def _closed(used: Any) -> None:
    with contextlib.suppress(Exception):
        async with asyncio.timeout(CLOSE_SECONDS):
            await used.flush()


def answer(browser: Browser, refused: list[str]) -> str:
    """What a browser follows now, and what it may not."""
    return json.dumps({"followed": sorted(browser.topics), "refused": refused})
