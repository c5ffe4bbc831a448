"""The way to a page through the fixed thread pool, against Django's ASGI handler:
`python -m tools.bench.measure_pages`.

Both answer the same requests of the same application in the same process, without a server between, in processor time.
The way is what is left when the page itself, asked straight, is taken off.
"""

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable
from typing import Any
from wsgiref.util import setup_testing_defaults

from tools.bench.rounds import line, spend

REQUESTS = 300
AT_ONCE = 8


async def _ask(application: Callable[..., Awaitable[None]], path: str) -> None:
    arrived = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if arrived.is_set():
            # The peer of the request stays, as a browser does: nothing more comes.
            await asyncio.Event().wait()
        arrived.set()
        return {"type": "http.request", "body": b"", "more_body": False}

    statuses: list[int] = []

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"localhost")],
        "client": ("127.0.0.1", 40_000),
        "server": ("127.0.0.1", 8_000),
    }
    await application(scope, receive, send)
    if statuses != [200]:
        raise SystemExit(f"{path} answered {statuses}; nothing was measured.")


def _many(application: Callable[..., Awaitable[None]], path: str) -> Callable[[], None]:
    async def run() -> None:
        async def one_after_the_other() -> None:
            for _ in range(REQUESTS // AT_ONCE):
                await _ask(application, path)

        await asyncio.gather(*(one_after_the_other() for _ in range(AT_ONCE)))

    return lambda: asyncio.run(run())


def _straight(pages: Callable[..., Any], path: str) -> Callable[[], None]:
    def run() -> None:
        for _ in range(REQUESTS):
            environ: dict[str, Any] = {"PATH_INFO": path, "HTTP_HOST": "localhost"}
            setup_testing_defaults(environ)
            answer = pages(environ, lambda status, headers: None)
            b"".join(answer)
            answer.close()

    return run


def main() -> None:
    """Print one line for the way alone and one for a rendered page with its way."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DATA_DIR": folder, "DATABASE_URL": "", "REDIS_URL": "", "DEMO": "1", "LOG_LEVEL": "ERROR"}
        os.environ["DJANGO_SETTINGS_MODULE"] = "project.settings"
        from django.core.asgi import get_asgi_application
        from django.core.management import call_command
        from django.core.wsgi import get_wsgi_application

        from project.pages import PagesInThreads

        pages = get_wsgi_application()
        call_command("migrate", verbosity=0, interactive=False)
        call_command("collectstatic", verbosity=0, interactive=False)
        ours = PagesInThreads(pages, threads=4, body_limit=1_048_576, body_seconds=20)
        theirs = get_asgi_application()
        peer = "Django's ASGI handler"

        path = "/healthz"
        page_ms, ours_ms, peer_ms = spend(
            _straight(pages, path), _many(ours, path), _many(theirs, path), pieces=REQUESTS
        )
        way = {"ours_ms": ours_ms - page_ms, "peer_ms": peer_ms - page_ms}
        print(line(what=f"the way to a page of {page_ms:.3f} ms", peer=peer, target=8, **way), flush=True)
        path = "/sign-in/"
        ours_ms, peer_ms = spend(_many(ours, path), _many(theirs, path), pieces=REQUESTS)
        print(line(what="a rendered page", ours_ms=ours_ms, peer=peer, peer_ms=peer_ms, target=1.2), flush=True)


if __name__ == "__main__":
    main()
