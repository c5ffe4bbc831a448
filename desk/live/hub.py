"""The relay of one event loop: the one member of the group for all its browsers.

It begins with the first browser and ends with the last, and passes what it hears to the fanout. When anything may have
been lost (the broker is away, its connection was lost, a batch is missing, admission can't be checked), it ends and
closes every socket with 1013. A page that connects again, after growing pauses, reads everything again, and the next
hub joins anew.
"""

import asyncio
import contextlib
import json
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial
from typing import Any

import structlog
from channels.db import database_sync_to_async
from django.conf import settings

from desk import clock
from desk.live import group
from desk.live.fanout import TRY_LATER, Browser, Fanout
from desk.people import presence, session_keys

OPEN_SECONDS = 5.0
BEAT_SECONDS = 1.0
FIRST_BEAT_SECONDS = 0.1
MOST_STRIKES = 3
RECHECK_SECONDS = 3.0
SWEEP_SECONDS = 0.5
LEAVE_SECONDS = 2.0
MOST_SENDERS = 1_000

SIGNED_OUT = 4401

_log = structlog.get_logger(__name__)
_hubs: dict[asyncio.AbstractEventLoop, "Hub"] = {}


class BrokerAway(Exception):
    """Nothing can be heard at the moment; connect again after a while."""


class HintsLost(Exception):
    """A message is missing, so what pages show may be out of date."""


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
    """One membership in the group, the checks that it still hears, and its browsers."""

    def __init__(self) -> None:
        self.users = 0
        self.fanout = Fanout()
        self._loop = asyncio.get_running_loop()
        self._name = uuid.uuid4().hex
        self._open = asyncio.Event()
        self._sent = self._returned = 0
        self._numbers: dict[str, int] = {}
        self._is_over = False
        self._life = asyncio.create_task(self._live())

    async def wait_until_open(self) -> None:
        """Wait until its own first beat came back, so that no later hint can be missed. Raises BrokerAway."""
        opening = asyncio.create_task(self._open.wait())
        try:
            await asyncio.wait({opening, self._life}, timeout=OPEN_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            opening.cancel()
        if not self._open.is_set() or self._is_over:
            self._give_up()
            raise BrokerAway

    async def stop(self) -> None:
        """Leave the group and end all tasks of this hub."""
        self._is_over = True
        self._forget()
        self._life.cancel()
        await asyncio.wait({self._life}, timeout=2 * LEAVE_SECONDS)

    def _forget(self) -> None:
        if _hubs.get(self._loop) is self:
            del _hubs[self._loop]

    async def _live(self) -> None:
        try:
            async with group.joined(settings.REDIS_URL) as membership, asyncio.TaskGroup() as chores:
                relayed = (partial(self._hear, membership), partial(self._beat, membership))
                for chore in (*relayed, self._recheck, self._drop_slow):
                    chores.create_task(self._kept_up(chore))
        except* Exception as errors:  # whatever it is: the browsers connect again and find a new hub
            reasons = sorted({type(error).__name__ for error in errors.exceptions})
            _log.warning("relay.hub_ended", reasons=reasons, browsers=len(self.fanout.browsers))
        finally:
            self._give_up()

    async def _kept_up(self, chore: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run one chore. When it fails, the browsers are sent away at once, however long the others take to end."""
        try:
            await chore()
        except Exception:
            self._give_up()
            raise

    def _give_up(self) -> None:
        """Send all browsers away; the next hub joins anew."""
        self._is_over = True
        self._forget()
        self.fanout.close_all()

    # Hearing ----------------------------------------------------------------------------------------------------------

    async def _hear(self, membership: group.Membership) -> None:
        while True:
            match await membership.hear():
                case group.Batch() as batch:
                    self._hand_on(batch)
                case group.Beat(hub=self._name, number=number):
                    self._note_beat(number)
            await asyncio.sleep(0)  # a flood must not keep the loop from writing

    def _hand_on(self, batch: group.Batch) -> None:
        """Pass a batch on. A missing one is noticed by the numbers, also where it could not be read."""
        before = self._numbers.pop(batch.sender, None)
        self._numbers[batch.sender] = batch.number
        if before is not None and batch.number != before + 1:
            raise HintsLost
        if len(self._numbers) > MOST_SENDERS:
            del self._numbers[next(iter(self._numbers))]
        announce = self.fanout.tick if batch.kind == "tick" else self.fanout.hint
        for topic, text in batch.texts:
            announce(topic, text)

    def _note_beat(self, number: int) -> None:
        """Note a returned beat. Beats travel like hints: where one is missing, hints may be missing as well."""
        if self._open.is_set() and number > self._returned + 1:
            raise HintsLost
        self._returned = number
        self._open.set()

    async def _beat(self, membership: group.Membership) -> None:
        """Send something to oneself all the time. What takes too long, or does not come back in time, is a strike.

        What can't be sent at all says that the broker was away, and then more than this may be lost.
        """
        strikes = 0
        while strikes < MOST_STRIKES:
            number, failures = self._sent + 1, 0
            try:
                async with asyncio.timeout(BEAT_SECONDS):
                    await membership.publish(group.Beat(hub=self._name, number=number))
                self._sent = number
            except TimeoutError:  # it may have left or not, so the next one has the same number
                failures = 1
            if self._is_over:  # the broker's library swallows a cancellation that comes while it connects or reads
                return
            await asyncio.sleep(BEAT_SECONDS if self._open.is_set() else FIRST_BEAT_SECONDS)
            is_well = self._returned == number or not self._open.is_set()
            strikes = 0 if is_well else strikes + 1 + failures
        raise BrokerAway

    # Who may still be here --------------------------------------------------------------------------------------------

    async def _recheck(self) -> None:
        """Check again whose the sockets are and what they may follow."""
        ask = database_sync_to_async(presence.admitted_all)
        find_renewed = database_sync_to_async(session_keys.those_renewed)
        while True:
            await asyncio.sleep(RECHECK_SECONDS)
            topics_by_key: dict[presence.Key, set[str]] = {}
            for browser in self.fanout.browsers:
                topics_by_key.setdefault(browser.key, set()).update(browser.topics)
            may = await ask(topics_by_key, now=clock.now())
            gone = [key for key, topics in may.items() if topics is None and isinstance(key, str)]
            renewed = await find_renewed(gone, now=clock.now()) if gone else set()
            for browser in list(self.fanout.browsers):
                if browser.key in renewed:
                    self.fanout.close(browser, TRY_LATER)  # it comes again at once, with the new key
                elif browser.key in may:  # else it came while we asked
                    self._apply(browser, topics_by_key[browser.key], may[browser.key])

    def _apply(self, browser: Browser, requested: set[str], may: list[str] | None) -> None:
        if may is None:
            self.fanout.close(browser, SIGNED_OUT)
            return
        lost = sorted(browser.topics & requested.difference(may))
        if lost:
            self.fanout.unfollow(browser, lost)
            self.fanout.say(browser, answer(browser, lost))

    async def _drop_slow(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            self.fanout.let_go_slow()


def answer(browser: Browser, refused: list[str]) -> str:
    """What a browser follows now, and what it may not."""
    return json.dumps({"followed": sorted(browser.topics), "refused": refused})
