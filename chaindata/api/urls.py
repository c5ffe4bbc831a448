"""Addresses under /api/v1/chain/."""

from django.urls import path

from chaindata import converters  # noqa: F401  # kinds of parts of addresses are registered there
from chaindata.api import views

urlpatterns = [
    path("tip/", views.Tip.as_view(), name="api-chain-tip"),
    path("blocks/<block:named>/", views.OneBlock.as_view(), name="api-chain-block"),
    path("transactions/<hash:txid>/", views.OneTransaction.as_view(), name="api-chain-transaction"),
    path("addresses/<coin_address:text>/", views.OneAddress.as_view(), name="api-chain-address"),
]
