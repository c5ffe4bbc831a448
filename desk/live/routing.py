"""The one socket of a browser. The project wraps this in the origin check and the session."""

from django.urls import path

from desk.live.consumers import relay

websocket_urlpatterns = [path("ws/", relay)]  # type: ignore[arg-type]
