"""Addresses of the pages about the exchange account, as its rooms declare them."""

from desk import rooms
from desk.views import lists

urlpatterns = [*lists.urls(*rooms.lists("exchange_ops")), *rooms.urls("exchange_ops")]
