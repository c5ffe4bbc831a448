"""Addresses of the pages about the chain, as its rooms declare them."""

from desk import rooms

urlpatterns = rooms.urls("chaindata")
