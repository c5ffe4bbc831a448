"""The group of web processes: one channel of the broker, with redis-py's asyncio pub/sub at both ends.

Redis delivers a message, in order, to whoever is subscribed at that moment, and keeps none. So messages are lost only
with a connection. The library would connect and subscribe again by itself; a membership ends instead. The messages are
msgpack, of two kinds:

    {"type": "relay.batch", "kind": "hint" or "tick", "sender": text, "number": n, "texts": [[topic, text]]}
    {"type": "relay.beat", "hub": text, "number": n}
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import msgspec
import structlog
from prometheus_client import Counter
from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff

CHANNEL = "asgi__group__relay"  # the name in earlier releases: during an upgrade both are heard
CONNECT_SECONDS = 1.0
ANSWER_SECONDS = 5.0
# A publisher whose connection is gone tries again, and succeeds as soon as a broker has started again.
PUBLISHER_RETRIES = 5
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.01, 0.25

IGNORED = Counter("countersign_relay_ignored_total", "Unreadable messages to the relay", ["reason"])
_log = structlog.get_logger(__name__)


class SubscribedAnew(Exception):
    """The library has connected again, so messages may have been missed."""


class Batch(msgspec.Struct, frozen=True, tag_field="type", tag="relay.batch"):
    """Texts of one sender, as browsers get them, with their topics; numbered for each sender, without gaps."""

    kind: str
    sender: str
    number: int
    texts: list[tuple[str, str]]


class Beat(msgspec.Struct, frozen=True, tag_field="type", tag="relay.beat"):
    """Sent by a hub to itself, to find out whether it hears."""

    hub: str
    number: int


_decoder = msgspec.msgpack.Decoder(Batch | Beat)


def connection(address: str, *, retries: int) -> Redis:
    """A client that connects when it is first used, and repeats what fails so often, with growing pauses."""
    backoff = ExponentialBackoff(base=FIRST_PAUSE_SECONDS, cap=LONGEST_PAUSE_SECONDS)
    return Redis.from_url(
        address,
        retry=Retry(backoff, retries),
        socket_connect_timeout=CONNECT_SECONDS,
        socket_timeout=ANSWER_SECONDS,
    )


async def publish(client: Redis, message: Batch | Beat) -> None:
    """Publish to all current members. Raises what redis-py raises when that fails."""
    await client.publish(CHANNEL, msgspec.msgpack.encode(message))


class Membership:
    """One subscription and a connection to publish by. Nothing is tried again: a failure ends the membership."""

    def __init__(self, client: Redis, heard: PubSub) -> None:
        self._client = client
        self._heard = heard
        self._is_subscribed = False

    async def publish(self, message: Batch | Beat) -> None:
        """Publish to all members, oneself included."""
        await publish(self._client, message)

    async def hear(self) -> Batch | Beat | None:
        """Wait for the next message; None for one that is not ours, which is counted.

        Raises SubscribedAnew, and what redis-py raises when the connection is lost.
        """
        heard = await self._heard.get_message(timeout=None)
        if heard is not None and heard["type"] == "subscribe":
            if self._is_subscribed:
                raise SubscribedAnew
            self._is_subscribed = True
        if heard is None or heard["type"] != "message":
            return None
        try:
            message: Batch | Beat = _decoder.decode(heard["data"])
        except (ValueError, RecursionError) as problem:
            IGNORED.labels(type(problem).__name__).inc()
            _log.warning("relay.message_ignored", reason=type(problem).__name__)
            return None
        return message


@asynccontextmanager
async def joined(address: str) -> AsyncIterator[Membership]:
    """A membership for as long as the context lasts. Raises what redis-py raises when the broker is away."""
    async with AsyncExitStack() as both:
        client = await both.enter_async_context(connection(address, retries=0))
        heard = await both.enter_async_context(client.pubsub())
        await heard.subscribe(CHANNEL)
        yield Membership(client, heard)
