"""The beat of the public stream: ten times a second every topic that may have changed is asked what is new.

What is new is written once and handed to all who follow (exchange supplement 1.3 has the cadence). Nothing is computed
for a topic that nobody follows.
"""

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import Final, TypeAlias

from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import Event, Refusal
from sandbox.server.sockets.market_topics import (
    FIRST_SEQUENCE,
    MOST,
    BookTopic,
    CandlesTopic,
    Message,
    TickerTopic,
    Topic,
    TradesTopic,
)
from sandbox.server.sockets.stream_session import StreamSession
from sandbox.world.world import World

log = logging.getLogger("sandbox")
BEAT_SECONDS: Final = 0.1
AGAIN_SECONDS: Final = 1.0  # after a first order book comes a second one (exchange supplement 1.3)
TICKER, BOOK, TRADES, CANDLES = "ticker", "book", "trades", "candles"
# What is told, of which symbol, and for candles the period.
Key: TypeAlias = tuple[str, str, str]


class Feed:
    """The topics that are followed on the sockets of one world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._topics: dict[Key, Topic] = {}
        self._followers: dict[Key, dict[StreamSession, None]] = {}
        self._sequences: dict[str, int] = {}
        self._touched: set[str] = set()
        self._again: dict[tuple[StreamSession, Key], float] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._waits = False

    @property
    def topics(self) -> int:
        """How many topics are followed."""
        return len(self._topics)

    def follow(self, key: Key, session: StreamSession, limit: int) -> None:
        """Tells a session the present state and, from now on, every change."""
        topic = self._topic(key)

        def begin(exchange: Exchange) -> None:
            self._pass_news(key, topic, exchange)  # to the others, so that for all the next change follows on this
            self._followers[key][session] = None
            self._one(session, topic.snapshot(exchange, limit))

        self._world.observe(begin)
        if key[0] == BOOK:
            self._again[session, key] = time.monotonic() + AGAIN_SECONDS
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(BEAT_SECONDS, self._beat)

    def leave(self, key: Key, session: StreamSession) -> None:
        """Ends what `follow` began; nothing happens when it has not."""
        followers = self._followers.get(key, {})
        followers.pop(session, None)
        self._again.pop((session, key), None)
        if not followers:
            self._drop(key)

    def hear(self, event: Event) -> None:
        """Notes that a trade or an order changed something in a symbol."""
        if event.kind in ("trade", "report", "marginReport") and isinstance(event.payload, Mapping):
            self._touched.add(str(event.payload["symbol"]))

    def end(self) -> None:
        """Ends the beat, for good, and all that `follow` began."""
        self._topics.clear()
        self._followers.clear()
        self._again.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _topic(self, key: Key) -> Topic:
        topic = self._topics.get(key)
        if topic is None:
            topic = self._topics[key] = self._new_topic(key)
            self._followers[key] = {}
        return topic

    def _new_topic(self, key: Key) -> Topic:
        kind, symbol_id, period = key
        if kind == BOOK:
            return BookTopic(symbol_id, self._sequences.get(symbol_id, FIRST_SEQUENCE))
        if kind == CANDLES:
            return CandlesTopic(symbol_id, period)
        return TickerTopic(symbol_id) if kind == TICKER else TradesTopic(symbol_id)

    def _drop(self, key: Key) -> None:
        topic = self._topics.pop(key, None)
        self._followers.pop(key, None)
        if isinstance(topic, BookTopic):
            self._sequences[topic.symbol_id] = topic.sequence

    def _beat(self) -> None:
        self._timer = None
        try:
            self._world.observe(self._publish_due)
            self._waits = False
        except Refusal:
            if not self._waits:
                log.warning("the public stream waits: the world takes nothing in")
            self._waits = True
        except Exception:
            log.exception("the public stream missed a beat")
        if self._topics:
            self._timer = asyncio.get_running_loop().call_later(BEAT_SECONDS, self._beat)

    def _publish_due(self, exchange: Exchange) -> None:
        touched, self._touched = self._touched, set()
        moment_ms = exchange.moment_ms
        for key, topic in tuple(self._topics.items()):
            if topic.due_ms <= moment_ms or topic.symbol_id in touched:
                self._pass_news(key, topic, exchange)
        now = time.monotonic()
        for (session, key), due in tuple(self._again.items()):
            if due <= now:
                del self._again[session, key]
                self._one(session, self._topics[key].snapshot(exchange, MOST))

    def _pass_news(self, key: Key, topic: Topic, exchange: Exchange) -> None:
        news = topic.news(exchange)
        if news is not None:
            self._all(key, news)

    def _all(self, key: Key, message: Message) -> None:
        followers = self._followers.get(key)
        if followers:
            frame = _frame(message)
            for session in tuple(followers):
                session.pass_on(message.method, message.params, frame)

    def _one(self, session: StreamSession, message: Message) -> None:
        session.pass_on(message.method, message.params, _frame(message))


def _frame(message: Message) -> str:
    return f'{{"jsonrpc":"2.0","method":"{message.method}","params":{message.params}}}'
