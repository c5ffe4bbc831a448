"""Addresses of the pages of this room."""

from django.urls import path

from chaindata import converters  # noqa: F401  # kinds of parts of addresses are registered there
from chaindata.explorer.views import address, block, home, transaction

urlpatterns = [
    path("chain/", home.home, name="chain"),
    path("chain/block/<block:named>/", block.block, name="chain-block"),
    path("chain/tx/<hash:txid>/", transaction.transaction, name="chain-transaction"),
    path("chain/address/<coin_address:text>/", address.address, name="chain-address"),
]
