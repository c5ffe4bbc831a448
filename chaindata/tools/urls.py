"""Addresses of the pages of this room."""

from django.urls import path

from chaindata import converters  # noqa: F401  # kinds of parts of addresses are registered there
from chaindata.tools import views as tools

urlpatterns = [
    path("chain/tools/", tools.address, name="chain-tools"),
    path("chain/tools/script/", tools.script, name="chain-tools-script"),
    path("chain/tools/proof/", tools.proof, name="chain-tools-proof"),
    path("chain/tools/payload/", tools.payload, name="chain-tools-payload"),
    path("chain/tools/simple-ledger/", tools.ledger, name="chain-tools-ledger"),
]
