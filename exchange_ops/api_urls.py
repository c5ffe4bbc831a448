"""Addresses under /api/v1/, as the rooms declare them."""

from desk import rooms
from desk.views import lists

urlpatterns = [*lists.api_urls(*rooms.lists("exchange_ops")), *rooms.urls("exchange_ops", name="api_urlpatterns")]
