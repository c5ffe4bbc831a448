"""The one web application: static files and sockets on the event loop, pages in a fixed thread pool."""

import os
from wsgiref.headers import Headers

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.sessions import SessionMiddlewareStack
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from servestatic import ServeStaticASGI

from desk.actions import file_types
from project.origins import OwnOrigin
from project.pages import PagesInThreads

_pages = PagesInThreads(
    get_wsgi_application(),
    threads=settings.WEB_THREADS,
    body_limit=settings.BODY_LIMIT_BYTES,
    body_seconds=settings.BODY_SECONDS,
    larger={file_types.paths(): file_types.BODY_BYTES},  # of the apps, which the first argument has loaded
)

# Needs the apps, which the line above has loaded.
from desk.live.consumers import websocket_urlpatterns  # noqa: E402


def _add_headers(headers: Headers, path: str, url: str) -> None:
    headers["X-Content-Type-Options"] = "nosniff"


application = ProtocolTypeRouter(
    {
        "http": ServeStaticASGI(
            _pages,
            root=settings.STATIC_ROOT,
            prefix=settings.STATIC_URL,
            allow_all_origins=False,
            add_headers_function=_add_headers,
        ),
        "websocket": OwnOrigin(SessionMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)
