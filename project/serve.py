"""The web process: `python -m project.serve`. One place for how the server is told to behave."""

import os
import resource
from typing import Any

import uvicorn

from project.request_limits import BoundedHead
from project.sockets import FrameSocket

_FILES = 8_192
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")


def config(application: Any = "project.asgi:application", **changes: Any) -> uvicorn.Config:
    """How pages and sockets are served, here, in containers and in the tests.

    No access log: chain-data addresses and filters carry what does not belong into a log. No deflate on sockets: hints
    are tiny, and compressing each costs more than sending it. Names of the peer are believed only from TRUSTED_PROXIES.
    The headers of every answer are set here, because no other place sees what the server itself refuses.
    """
    from django.conf import settings

    options: dict[str, Any] = {
        "host": settings.LISTEN,
        "port": settings.PORT,
        "log_config": None,
        "log_level": "warning",
        "access_log": False,
        "server_header": False,
        "headers": list(settings.ANSWER_HEADERS.items()),
        "lifespan": "off",
        "http": BoundedHead,
        "ws": FrameSocket,
        "ws_max_size": 16_384,
        "ws_per_message_deflate": False,
        "proxy_headers": bool(settings.TRUSTED_PROXIES),
        "forwarded_allow_ips": settings.TRUSTED_PROXIES or None,
        "timeout_keep_alive": 15,
        "timeout_graceful_shutdown": 2,
        # Sockets are counted too. Connections that only stand about are bounded well below (project.doors).
        "limit_concurrency": 4_000,
    }
    return uvicorn.Config(application, **{**options, **changes})


def main() -> None:
    """Serve until a signal ends it, unless the database is another desk's."""
    import project.asgi  # loads the apps

    require_database()
    _allow_files()
    uvicorn.Server(config(project.asgi.application)).run()


def require_database() -> None:
    """End this process with one sentence when its database and DEMO don't belong together."""
    from desk import database_mark  # the apps have to be loaded first

    try:
        database_mark.require()
    except database_mark.WrongDatabase as reason:
        raise SystemExit(str(reason)) from None


def _allow_files() -> None:
    """As many open files as the system lets this user have, up to what the limits above can need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most_files = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most_files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, hard))


if __name__ == "__main__":
    main()
