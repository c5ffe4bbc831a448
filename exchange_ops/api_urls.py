"""Addresses under /api/v1/, as the rooms declare them."""

from desk import rooms

urlpatterns = rooms.urls("exchange_ops", name="api_urlpatterns")
