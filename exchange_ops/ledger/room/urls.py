"""Addresses of the pages and the interface of this room."""

from django.urls import path

from exchange_ops.ledger import api
from exchange_ops.ledger.views import deposits, destinations, listing

lists = (listing.LEDGER, deposits.DEPOSITS, destinations.DESTINATIONS)
api_urlpatterns = [path("balances/", api.Balances.as_view(), name="api-balances")]
