"""Addresses of the pages and the interface of this room."""

from django.urls import path

from exchange_ops.ledger import api
from exchange_ops.ledger.views import deposits, destinations, listing, records

lists = (listing.LEDGER, deposits.DEPOSITS, destinations.DESTINATIONS)
urlpatterns = [
    path("ledger/records/<int:aside_id>/", records.record, name="ledger-record"),
    path("ledger/records/<int:aside_id>/choose/", records.choose, name="ledger-record-choose"),
]
api_urlpatterns = [path("balances/", api.Balances.as_view(), name="api-balances")]
