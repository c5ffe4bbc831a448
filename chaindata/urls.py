"""Addresses of the pages about the chain."""

from django.urls import path, register_converter

from chaindata import converters
from chaindata.views import address, block, home, transaction

register_converter(converters.HashConverter, "hash")
register_converter(converters.BlockConverter, "block")
register_converter(converters.AddressConverter, "coin_address")

urlpatterns = [
    path("chain/", home.home, name="chain"),
    path("chain/block/<block:named>/", block.block, name="chain-block"),
    path("chain/tx/<hash:txid>/", transaction.transaction, name="chain-transaction"),
    path("chain/address/<coin_address:text>/", address.address, name="chain-address"),
]
