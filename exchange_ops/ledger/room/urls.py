"""Addresses of the pages and the interface of this room."""

from django.urls import path

from exchange_ops.ledger import api
from exchange_ops.ledger.views import deposits, destinations, listing

urlpatterns = [
    path("ledger/", listing.ledger, name="ledger"),
    path("ledger/export.<slug:form>", listing.export, name="ledger-export"),
    path("deposits/", deposits.deposits, name="deposits"),
    path("deposits/export.<slug:form>", deposits.export, name="deposits-export"),
    path("addresses/", destinations.destinations, name="addresses"),
    path("addresses/export.<slug:form>", destinations.export, name="addresses-export"),
]

api_urlpatterns = [
    path("ledger/", api.Ledger.as_view(), name="api-ledger"),
    path("balances/", api.Balances.as_view(), name="api-balances"),
]
