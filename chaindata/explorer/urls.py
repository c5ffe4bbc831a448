"""Addresses of the pages of this room."""

from django.urls import path

from chaindata import converters  # noqa: F401  # kinds of parts of addresses are registered there
from chaindata.explorer import views

urlpatterns = [
    path("chain/", views.home_page, name="chain"),
    path("chain/block/<block:named>/", views.block_page, name="chain-block"),
    path("chain/tx/<hash:txid>/", views.transaction_page, name="chain-transaction"),
    path("chain/address/<coin_address:text>/", views.address_page, name="chain-address"),
]
