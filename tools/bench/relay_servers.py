"""The servers that `measure_relay` compares, each in its own process:
`python -m tools.bench.relay_servers KIND FOLDER`.

Every server reads notifications from a Unix socket, one `topic text` a line, and gives the texts to all its browsers;
`hub-redis` hears them from Redis instead, like a web process of the desk does. It prints its port once it listens.
"""

import asyncio
import socket
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import uvloop

Lines = list[tuple[str, str]]  # topic and text
Give = Callable[[Lines], None]
_BROWSERS = 100_000  # all of them come from one address here, which the desk would not let one machine do
_listening: list[asyncio.AbstractServer] = []


class _Upstream(asyncio.Protocol):
    """What arrives together is given on together."""

    def __init__(self, give: Give) -> None:
        self._give = give
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._give([tuple(line.decode().split(" ", 1)) for line in lines])  # type: ignore[misc]


async def _listen(folder: Path, name: str, give: Give) -> None:
    path = str(folder / f"{name}.sock")
    _listening.append(await asyncio.get_running_loop().create_unix_server(lambda: _Upstream(give), path))


async def _serve(application: Any, **options: Any) -> None:
    """uvicorn as the desk has it, or with the options given."""
    import uvicorn

    # The browsers of the measurement only read: they answer no ping.
    quiet = {"log_config": None, "log_level": "warning", "access_log": False, "ws_ping_interval": None}
    settings = {"lifespan": "off", "ws_per_message_deflate": False, **quiet, **options}
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listening:
        print(listening.getsockname()[1], flush=True)
        await uvicorn.Server(uvicorn.Config(application, **settings)).serve(sockets=[listening])


# Ours ----------------------------------------------------------------------------------------------------------------


async def _attend(room: Any, scope: Any, receive: Any, send: Any) -> None:
    """One browser that follows every topic of the measurements, and is never asked who it is."""
    from desk.live.fanout import Browser
    from desk.live.frames import FRAMES

    await receive()
    await send({"type": "websocket.accept"})
    browser = Browser(key="", socket=scope["extensions"][FRAMES])
    room.add(browser)
    room.follow(browser, ["t", *(f"t:{number}" for number in range(100))])
    while (await receive())["type"] == "websocket.receive":
        continue
    room.remove(browser)


async def hub(folder: Path) -> None:
    """The fanout of the desk, given each notification by a call. Topics with a number carry ticks."""
    from django.conf import settings

    settings.configure(CONNECTIONS_PER_ADDRESS=_BROWSERS, TRUSTED_PROXIES=())
    from desk.live.fanout import Fanout
    from project.sockets import FrameSocket

    room = Fanout()

    def give(lines: Lines) -> None:
        for topic, text in lines:
            (room.hint if topic == "t" else room.tick)(topic, text)

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await _attend(room, scope, receive, send)

    await _listen(folder, "hub", give)
    await _serve(application, ws=FrameSocket)


async def hub_redis(folder: Path) -> None:
    """The whole hub of the desk: a member of the group behind Redis, with its beats; who follows is not asked again."""
    import os

    import django

    address = f"unix://{folder / 'redis.sock'}"
    os.environ |= {"DJANGO_SETTINGS_MODULE": "project.settings", "DATA_DIR": str(folder / "house"), "DEMO": "1"}
    os.environ |= {"REDIS_URL": address, "DATABASE_URL": f"sqlite:///{folder / 'none.sqlite3'}"}
    os.environ["CONNECTIONS_PER_ADDRESS"] = str(_BROWSERS)
    django.setup()
    from desk.live import hub as relay
    from project.sockets import FrameSocket

    relay.RECHECK_SECONDS = 1_000_000.0

    async def application(scope: Any, receive: Any, send: Any) -> None:
        async with relay.joined() as room:
            await _attend(room, scope, receive, send)

    await _serve(application, ws=FrameSocket)


# The others ----------------------------------------------------------------------------------------------------------


async def broadcast(folder: Path) -> None:
    """`websockets.broadcast`, one call for each notification."""
    await _broadcast(folder, "broadcast", lambda texts: texts)


async def broadcast_uvloop(folder: Path) -> None:
    """The same on uvloop."""
    await _broadcast(folder, "broadcast-uvloop", lambda texts: texts)


async def broadcast_batched(folder: Path) -> None:
    """The same, with what arrives together made one array first."""
    await _broadcast(folder, "broadcast-batched", lambda texts: [f"[{','.join(texts)}]"])


async def _broadcast(folder: Path, name: str, arranged: Callable[[list[str]], list[str]]) -> None:
    from websockets.asyncio.server import ServerConnection, serve
    from websockets.asyncio.server import broadcast as to_all

    present: set[ServerConnection] = set()

    def give(lines: Lines) -> None:
        for text in arranged([text for _, text in lines]):
            to_all(present, text)

    async def attend(connection: ServerConnection) -> None:
        present.add(connection)
        await connection.wait_closed()
        present.discard(connection)

    await _listen(folder, name, give)
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listening:
        async with serve(attend, sock=listening, compression=None, ping_interval=None) as server:
            print(listening.getsockname()[1], flush=True)
            await server.serve_forever()


async def channels(folder: Path) -> None:
    """Channels as it comes: one group of consumers in memory, under uvicorn; the text is made once here as well."""
    from channels.generic.websocket import AsyncWebsocketConsumer
    from channels.layers import get_channel_layer
    from django.conf import settings

    settings.configure(CHANNEL_LAYERS={"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}})
    chores = set()

    class Consumer(AsyncWebsocketConsumer):  # type: ignore[misc]
        async def connect(self) -> None:
            await self.channel_layer.group_add("t", self.channel_name)
            await self.accept()

        async def notify(self, event: dict[str, str]) -> None:
            await self.send(text_data=event["text"])

    def give(lines: Lines) -> None:
        layer = get_channel_layer()
        assert layer is not None
        for _, text in lines:
            chore = asyncio.create_task(layer.group_send("t", {"type": "notify", "text": text}))
            chores.add(chore)
            chore.add_done_callback(chores.discard)

    await _listen(folder, "channels", give)
    await _serve(Consumer.as_asgi(), ws="websockets-sansio")


KINDS: dict[str, Callable[[Path], Coroutine[Any, Any, None]]] = {
    "hub": hub,
    "hub-redis": hub_redis,
    "broadcast": broadcast,
    "broadcast-uvloop": broadcast_uvloop,
    "broadcast-batched": broadcast_batched,
    "channels": channels,
}

if __name__ == "__main__":
    kind, folder = sys.argv[1], Path(sys.argv[2])
    run = asyncio.run if kind in {"broadcast", "broadcast-batched"} else uvloop.run
    run(KINDS[kind](folder))
