"""Addresses of the pages of this room."""

from django.urls import path

from chaindata import converters  # noqa: F401  # kinds of parts of addresses are registered there
from chaindata.tools import views

urlpatterns = [
    path("chain/tools/", views.address, name="chain-tools"),
    path("chain/tools/script/", views.script, name="chain-tools-script"),
    path("chain/tools/proof/", views.proof, name="chain-tools-proof"),
    path("chain/tools/payload/", views.payload, name="chain-tools-payload"),
    path("chain/tools/simple-ledger/", views.ledger, name="chain-tools-ledger"),
]
