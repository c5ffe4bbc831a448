"""What the browsers of one event loop follow, and what is still to be sent to each. Plain calls; no broker, no rows.

A text arrives ready and is framed once for all browsers. Hints go out in order at the end of the loop's turn, all that
wait for a browser in one frame, equal hints once. Of the ticks of a topic only the latest is kept, and they go out at
most every 50 ms. To a browser that does not keep up nothing more is written: at most one frame is in its connection,
ticks wait as names of topics, and hints wait up to a limit, beyond which its socket is closed.
"""

import asyncio
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

import structlog
from prometheus_client import Counter

from desk.live import frames

if TYPE_CHECKING:
    from desk.people import presence

TICK_SECONDS = 0.05
SLOW_SECONDS = 5.0
MOST_WAITING = 100
LAST_WORD_SECONDS = 0.5

TRY_LATER = 1013

LET_GO = Counter("countersign_browsers_let_go_total", "Sockets closed by the desk, by close code", ["code"])
_log = structlog.get_logger(__name__)


class Browser:
    """One socket: whose it is, what it follows, and what waits for it (hints as texts, ticks as names of topics).

    Its key is that of a session or of a token. Where `is_limited`, the person is limited to some accounts, and a hint
    for the whole desk says only that something changed.
    """

    __slots__ = (
        *(
            "__weakref__",
            "ended",
            "hints",
            "is_limited",
            "key",
            "person_id",
            "socket",
            "stuck",
            "ticks",
            "topics",
        ),
    )

    def __init__(
        self, *, key: "presence.Key", socket: frames.Socket, person_id: int = 0, is_limited: bool = False
    ) -> None:
        self.is_limited = is_limited
        self.key = key
        self.person_id = person_id
        self.socket = socket
        self.topics: set[str] = set()
        self.hints: dict[str, None] = {}
        self.ticks: dict[str, None] = {}
        self.stuck = False
        self.ended = False


class Fanout:
    """The browsers of one event loop, by topic. Made and used on that loop alone.

    What happens goes to `_news` and `_changed` first and from there straight to the browsers that keep up. Browsers
    with something waiting are in `_hinted` or `_ticked`, unless they are stuck.
    """

    def __init__(self) -> None:
        self.browsers: set[Browser] = set()
        self._loop = asyncio.get_running_loop()
        self._over = False
        self._followers: dict[str, set[Browser]] = {}
        self._latest: dict[str, str] = {}
        self._news: dict[str, str] = {}  # hints of this turn, with their topics
        self._changed: dict[str, None] = {}  # topics with ticks since the last slot
        self._hinted: list[Browser] = []
        self._ticked: list[Browser] = []
        self._stuck: dict[Browser, tuple[int, float]] = {}
        self._flush: asyncio.Handle | None = None
        self._slot: asyncio.Handle | None = None
        self._next_slot = 0.0

    # Who is here ------------------------------------------------------------------------------------------------------

    def add(self, browser: Browser) -> None:
        """Add a browser. After `close_all` it is sent away like the others."""
        if self._over:
            _close(browser, TRY_LATER)
            return
        self.browsers.add(browser)
        browser.socket.when_taken = lambda: self._taken(browser)

    def remove(self, browser: Browser) -> None:
        """Remove a browser and everything that waits for it."""
        browser.ended = True
        browser.socket.when_taken = None
        self.browsers.discard(browser)
        self._stuck.pop(browser, None)
        self.unfollow(browser, list(browser.topics))
        browser.hints.clear()
        browser.ticks.clear()

    def close(self, browser: Browser, code: int) -> None:
        """Close the socket of a browser; that of one that does not read is cut half a second later."""
        if browser.ended:
            return
        is_stuck = browser.stuck
        self.remove(browser)
        _close(browser, code)
        if is_stuck:
            self._loop.call_later(LAST_WORD_SECONDS, browser.socket.cut)

    def close_all(self) -> None:
        """Close all sockets, to be opened again after a while; no browser can be added any more."""
        self._over = True
        for browser in list(self.browsers):
            self.close(browser, TRY_LATER)
        for planned in (self._flush, self._slot):
            if planned is not None:
                planned.cancel()

    def follow(self, browser: Browser, topics: Iterable[str]) -> None:
        """Follow these topics. The latest tick of a topic that others follow already is sent at once."""
        for topic in topics:
            browser.topics.add(topic)
            self._followers.setdefault(topic, set()).add(browser)
            if topic in self._latest:
                self._tick_for(browser, topic)
                self._plan_slot()

    def unfollow(self, browser: Browser, topics: Iterable[str]) -> None:
        """Stop following these topics. Nothing is kept of a topic that nobody follows."""
        for topic in topics:
            browser.topics.discard(topic)
            browser.ticks.pop(topic, None)
            followers = self._followers.get(topic)
            if followers is not None:
                followers.discard(browser)
                if not followers:
                    del self._followers[topic]
                    self._latest.pop(topic, None)
                    self._changed.pop(topic, None)

    # What is to be told -----------------------------------------------------------------------------------------------

    def hint(self, topic: str, text: str) -> None:
        """Queue a hint for everybody who follows the topic; one that waits already keeps its place."""
        if topic in self._followers:
            self._news[text] = topic
            self._plan_flush()

    def tick(self, topic: str, text: str) -> None:
        """Keep the newest value of a topic that somebody follows, and send it in the next slot."""
        if topic in self._followers:
            self._latest[topic] = text
            self._changed[topic] = None
            self._plan_slot()

    def say(self, browser: Browser, text: str) -> None:
        """Queue a text for one browser among its hints; one that waits already moves to the end."""
        if browser.ended:
            return
        if not browser.hints:
            self._hinted.append(browser)
        browser.hints.pop(text, None)
        browser.hints[text] = None
        self._plan_flush()

    def let_go_slow(self) -> None:
        """Close the sockets that took nothing for five seconds; to be called every second or so."""
        now = self._loop.time()
        for browser, (untaken, since) in list(self._stuck.items()):
            remaining = browser.socket.untaken()
            if remaining < untaken:
                self._stuck[browser] = (remaining, now)
            elif now - since >= SLOW_SECONDS:
                self._let_go(browser)

    def _let_go(self, browser: Browser) -> None:
        _log.warning("relay.slow_browser", waiting=len(browser.hints), untaken=browser.socket.untaken())
        self.close(browser, TRY_LATER)

    # Writing ----------------------------------------------------------------------------------------------------------

    def _plan_flush(self) -> None:
        if self._flush is None:
            self._flush = self._loop.call_soon(self._send_hints)

    def _plan_slot(self) -> None:
        if self._slot is None:
            self._slot = self._loop.call_at(max(self._next_slot, self._loop.time()), self._send_ticks)

    def _send_hints(self) -> None:
        self._flush = None
        news, self._news = self._news, {}
        frame_cache: dict[tuple[str, ...], frames.Frames] = {}
        texts_by_topics: dict[tuple[bool, tuple[str, ...]], tuple[str, ...]] = {}
        for browser, topics in self._touched(tuple(dict.fromkeys(news.values()))).items():
            texts = texts_by_topics.get((browser.is_limited, topics))
            if texts is None:
                followed = frozenset(topics)
                pairs = [(text, topic) for text, topic in news.items() if topic in followed]
                texts = texts_by_topics[browser.is_limited, topics] = (
                    _limited(pairs) if browser.is_limited else _texts(pairs)
                )
            if browser.hints or browser.stuck:
                self._line_up(browser, texts)
            else:
                written = self._write(browser, texts, frame_cache)
                if written < len(texts):
                    browser.hints = dict.fromkeys(texts[written:])
        browsers, self._hinted = self._hinted, []
        for browser in browsers:
            if browser.hints and not browser.stuck:
                written = self._write(browser, tuple(browser.hints), frame_cache)
                _shorten(browser.hints, written)

    def _line_up(self, browser: Browser, texts: tuple[str, ...]) -> None:
        for text in texts:
            browser.hints[text] = None
        if browser.stuck and len(browser.hints) > MOST_WAITING:
            self._let_go(browser)

    def _send_ticks(self) -> None:
        self._slot = None
        self._next_slot = self._loop.time() + TICK_SECONDS
        changed, self._changed = self._changed, {}
        frame_cache: dict[tuple[str, ...], frames.Frames] = {}
        for browser, topics in self._touched(tuple(changed)).items():
            if browser.ticks or browser.stuck:
                browser.ticks.update(dict.fromkeys(topics))
            else:
                written = self._write(browser, tuple([self._latest[topic] for topic in topics]), frame_cache)
                if written < len(topics):
                    browser.ticks = dict.fromkeys(topics[written:])
        browsers, self._ticked = self._ticked, []
        for browser in browsers:
            if browser.ticks and not browser.stuck:
                written = self._write(browser, tuple([self._latest[topic] for topic in browser.ticks]), frame_cache)
                _shorten(browser.ticks, written)

    def _touched(self, topics: tuple[str, ...]) -> dict[Browser, tuple[str, ...]]:
        """Who follows any of these, and which of them, in order."""
        if len(topics) == 1:
            return dict.fromkeys(self._followers.get(topics[0], ()), topics)
        topics_by_browser: dict[Browser, list[str]] = {}
        for topic in topics:
            for browser in self._followers.get(topic, ()):
                if browser in topics_by_browser:
                    topics_by_browser[browser].append(topic)
                else:
                    topics_by_browser[browser] = [topic]
        return {browser: tuple(its) for browser, its in topics_by_browser.items()}

    def _tick_for(self, browser: Browser, topic: str) -> None:
        if not browser.ticks:
            self._ticked.append(browser)
        browser.ticks[topic] = None

    def _write(
        self, browser: Browser, texts: tuple[str, ...], frame_cache: dict[tuple[str, ...], frames.Frames]
    ) -> int:
        """Write frame after frame while the peer keeps up; how many of the texts were written."""
        parts = frame_cache.get(texts)
        if parts is None:
            parts = frame_cache[texts] = frames.framed(texts, browser.socket.frame)
        written = 0
        for count, frame in parts:
            written += count
            if not browser.socket.write(frame):
                browser.stuck = True
                self._stuck[browser] = (browser.socket.untaken(), self._loop.time())
                break
        return written

    def _taken(self, browser: Browser) -> None:
        """The peer has taken everything: continue with what waits. Ticks wait for their slot."""
        if not browser.stuck:
            return
        browser.stuck = False
        self._stuck.pop(browser, None)
        if browser.hints:
            self._hinted.append(browser)
            self._plan_flush()
        if browser.ticks:
            self._ticked.append(browser)
            self._plan_slot()


def _texts(pairs: list[tuple[str, str]]) -> tuple[str, ...]:
    return tuple([text for text, _ in pairs])


def _limited(pairs: list[tuple[str, str]]) -> tuple[str, ...]:
    """The texts for a limited person: a hint on a topic without a key may be about any account, so it is emptied."""
    texts = [text if ":" in topic else json.dumps({"topic": topic, "hint": {}}) for text, topic in pairs]
    return tuple(dict.fromkeys(texts))


def _close(browser: Browser, code: int) -> None:
    browser.ended = True
    LET_GO.labels(str(code)).inc()
    browser.socket.end(code)


def _shorten(waiting: dict[str, None], written: int) -> None:
    if written == len(waiting):
        waiting.clear()
        return
    for name in list(waiting)[:written]:
        del waiting[name]
