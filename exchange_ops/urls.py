"""Addresses of the pages about the exchange account, as its rooms declare them."""

from desk import rooms

urlpatterns = rooms.urls("exchange_ops")
