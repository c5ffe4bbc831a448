"""One socket per browser: it says which topics it shows, and is told when one of them changed.

In: `{"follow": [topics]}`, `{"unfollow": [topics]}`. Out: `{"followed": [all topics followed now], "refused": [those of
the last request, or lost since]}` and hints `{"topic", "hint"}`. A hint carries no figures to act on: the page reads
again over HTTP. Admission is asked at joining and again every four seconds.

Close codes: 4401 signed out, or rights changed; 4400 not this protocol; 4429 too many messages; 1009 a message too
long; 1013 the browser reads too slowly, or the broker is away: connect again after a while.
"""

import asyncio
import contextlib
import json
import time
from typing import Any

import structlog
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer

from desk import clock, live, presence

RECHECK_SECONDS = 4.0
SLOW_SECONDS = 5.0
LEAVE_SECONDS = 2.0
MOST_WAITING = 100
MOST_TOPICS = 100
LONGEST_MESSAGE = 8_000
MOST_MESSAGES = 30
MESSAGE_WINDOW_SECONDS = 10.0

SIGNED_OUT = 4401
NOT_UNDERSTOOD = 4400
TOO_MANY = 4429
TOO_LONG = 1009
TRY_LATER = 1013

_log = structlog.get_logger(__name__)


class RelayConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """The relay of one browser. Nothing it receives changes anything; nothing it sends needs more than a re-read."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Live until the browser parts or is given up: one that does not read can't be told to go, only be left."""
        self.followed: set[str] = set()
        self.waiting: asyncio.Queue[str] = asyncio.Queue(MOST_WAITING)
        self.arrivals: list[float] = []
        self.chores: list[asyncio.Task[None]] = []
        self.given_up = asyncio.Event()
        life = asyncio.create_task(super().__call__(scope, receive, send))
        leaving = asyncio.create_task(self.given_up.wait())
        try:
            await asyncio.wait({life, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            was_over = life.done()
            for task in (life, leaving, *self.chores):
                task.cancel()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._leave(list(self.followed)), LEAVE_SECONDS)
            ended = await asyncio.gather(life, return_exceptions=True)
        if was_over and isinstance(ended[0], Exception):
            raise ended[0]

    async def connect(self) -> None:
        """Accept somebody who is signed in; anybody else is refused before the handshake is answered."""
        session = self.scope.get("session")
        self.session_key: str = (session.session_key if session is not None else "") or ""
        if await self._admitted([]) is None:
            await self.close()
            return
        await self.accept()
        self.chores = [asyncio.create_task(self._write()), asyncio.create_task(self._recheck())]

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """One message of the browser, within the bounds of size, rate and shape."""
        now = time.monotonic()
        self.arrivals = [at for at in self.arrivals if at > now - MESSAGE_WINDOW_SECONDS] + [now]
        if len(self.arrivals) > MOST_MESSAGES:
            await self.close(TOO_MANY)
        elif text_data is None:
            await self.close(NOT_UNDERSTOOD)
        elif len(text_data) > LONGEST_MESSAGE:
            await self.close(TOO_LONG)
        else:
            await self._obey(_read(text_data))

    async def relay_hint(self, event: dict[str, str]) -> None:
        """A hint from the channel layer: put in line for this browser, never awaited, so nothing piles up behind it."""
        await self._put(event["text"])

    async def relay_tick(self, event: dict[str, str]) -> None:
        """A tick from the channel layer, in line like a hint."""
        await self._put(event["text"])

    async def _obey(self, asked: tuple[list[str], list[str]] | None) -> None:
        if asked is None:
            await self.close(NOT_UNDERSTOOD)
            return
        follow, unfollow = asked
        await self._leave([topic for topic in unfollow if topic in self.followed])
        refused: list[str] = []
        if follow:
            may = await self._admitted(follow)
            if may is None:
                await self.close(SIGNED_OUT)
                return
            refused = [topic for topic in follow if topic not in may]
            refused += await self._join([topic for topic in may if topic not in self.followed])
        await self._put(_answer(self.followed, refused))

    async def _join(self, wanted: list[str]) -> list[str]:
        """Follow these; those beyond the bound are handed back. A broker that is away ends the socket."""
        room = MOST_TOPICS - len(self.followed)
        try:
            for topic in wanted[:room]:
                await self.channel_layer.group_add(live.group_name(topic), self.channel_name)
                self.followed.add(topic)
        except Exception as error:
            _log.warning("relay.cannot_follow", reason=type(error).__name__)
            await self.close(TRY_LATER)
        return wanted[room:]

    async def _leave(self, wanted: list[str]) -> None:
        for topic in wanted:
            self.followed.discard(topic)
            with contextlib.suppress(Exception):  # a hint too many costs one re-read
                await self.channel_layer.group_discard(live.group_name(topic), self.channel_name)

    async def _put(self, text: str) -> None:
        try:
            self.waiting.put_nowait(text)
        except asyncio.QueueFull:
            await self._give_up()

    async def _write(self) -> None:
        """Send what is in line, one after the other; a browser that takes too long over one is let go."""
        while True:
            text = await self.waiting.get()
            try:
                await asyncio.wait_for(self.send(text_data=text), SLOW_SECONDS)
            except TimeoutError:
                await self._give_up()
                return
            except Exception as error:  # the browser left while it was written to; disconnect() follows by itself
                _log.info("relay.send_failed", reason=type(error).__name__)
                return

    async def _give_up(self) -> None:
        """Say why if the browser still listens, and leave it in any case."""
        _log.warning("relay.slow_browser", waiting=self.waiting.qsize())
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self.close(TRY_LATER), 0.5)
        self.given_up.set()

    async def _recheck(self) -> None:
        """Ask again who this is and what it may follow; in doubt the browser has to come again."""
        while True:
            await asyncio.sleep(RECHECK_SECONDS)
            try:
                may = await self._admitted(sorted(self.followed))
            except Exception as error:
                _log.warning("relay.recheck_failed", reason=type(error).__name__)
                await self.close(TRY_LATER)
                return
            if may is None:
                await self.close(SIGNED_OUT)
                return
            lost = sorted(self.followed.difference(may))
            if lost:
                await self._leave(lost)
                await self._put(_answer(self.followed, lost))

    async def _admitted(self, wanted: list[str]) -> list[str] | None:
        ask = database_sync_to_async(presence.admitted)
        may: list[str] | None = await ask(self.session_key, wanted, now=clock.now())
        return may


def _read(text: str) -> tuple[list[str], list[str]] | None:
    """The topics to follow and to leave, or None for anything but the two known members holding texts."""
    try:
        message: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not message or not message.keys() <= {"follow", "unfollow"}:
        return None
    lists = [message.get("follow", []), message.get("unfollow", [])]
    if not all(isinstance(one, list) and all(isinstance(topic, str) for topic in one) for one in lists):
        return None
    follow, unfollow = (list(dict.fromkeys(one)) for one in lists)
    return follow, unfollow


def _answer(followed: set[str], refused: list[str]) -> str:
    return json.dumps({"followed": sorted(followed), "refused": refused})
