"""The sandbox as one ASGI application: the exchange's REST interface, the control plane, the sockets, and the page.

Everything is decided on the event loop without waiting in between: a call is read whole, executed at once, answered.
Only answers about many symbols are written a slice at a time.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from chaindata.wire import catalogue as chain_catalogue
from exchange_ops.wire import catalogue
from sandbox.server import answers, error_responses, pages, requests
from sandbox.server.answers import Delivery
from sandbox.server.auth import Limits
from sandbox.server.calls import Calls
from sandbox.server.control import Control
from sandbox.server.faults.faults import Faults
from sandbox.server.requests import Receive, Received, Scope, Send
from sandbox.server.rest import chain, exchange
from sandbox.server.rest.chain import ChainFront
from sandbox.server.rest.exchange import ExchangeFront
from sandbox.server.sockets.sockets import METHOD_NAMES, NOTIFICATION_NAMES, Sockets
from sandbox.world.world import World

log = logging.getLogger("sandbox")
CONTROL = "/_sandbox/"


def every_fault() -> Faults:
    """An empty set of faults that knows what can be armed."""
    return Faults(
        operations=[operation.name for operation in catalogue.OPERATIONS],
        chain=[operation.name for operation in chain_catalogue.ALL],
        methods=METHOD_NAMES,
        notifications=NOTIFICATION_NAMES,
        knows_code=error_responses.knows,
    )


class Sandbox:
    """The application over one world. `sealed` leaves the control plane out; `stirred` is called after what may have
    set a timer."""

    def __init__(
        self,
        world: World,
        faults: Faults,
        *,
        sealed: bool,
        stirred: Callable[[], None],
        most_waiting: int | None = None,
    ) -> None:
        self.world = world
        self.faults = faults
        self.calls = Calls(world.clock.now_ms)
        self.sealed = sealed
        self._stirred = stirred
        self._limits = Limits()
        self._control = Control(world, faults, self.calls)
        self.sockets = Sockets(world, faults, self.calls, self._limits, most_waiting=most_waiting)
        self._background: set[asyncio.Task[None]] = set()
        self._exchange = ExchangeFront(world, faults, self.calls, self._limits, later=self._later, stirred=stirred)
        self._chain = ChainFront(world, faults, self.calls, later=self._later)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request or one socket, until the server ends."""
        with contextlib.suppress(asyncio.CancelledError):
            if scope["type"] == "websocket":
                await self.sockets.serve(scope, receive, send)
            elif scope["type"] == "http":
                await self._request(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_chain = scope["path"].lower().startswith(chain.PREFIX)
        try:
            most_bytes = requests.MOST_CHAIN_BYTES if is_chain else requests.MOST_BYTES
            received = await requests.read(scope, receive, most_bytes=most_bytes)
            delivery = await self._answer(received)
        except requests.ClientGone:
            return
        except requests.TooLarge:
            delivery = chain.too_large() if is_chain else exchange.TOO_LARGE
        finally:
            self._stirred()
        await answers.deliver(delivery, scope, receive, send, date_ms=self.world.clock.now_ms())

    async def _answer(self, received: Received) -> Delivery:
        path = received.path
        if path.startswith(exchange.PREFIX) or (
            self.world.config.is_observed and path.lower().startswith(exchange.PREFIX)
        ):
            return await self._exchange.answer(received)
        if path.startswith(CONTROL) and not self.sealed:
            return self._control.answer(received)
        if path == "/" and received.method in ("GET", "HEAD"):
            return answers.of_html(pages.page(self.world, sealed=self.sealed))
        if path.lower().startswith(chain.PREFIX):
            return await self._chain.answer(received)
        return answers.not_routed(received.method, path)

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
