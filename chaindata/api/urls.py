"""Addresses under /api/v1/chain/."""

from django.urls import path

from chaindata import converters  # noqa: F401  # kinds of parts of addresses are registered there
from chaindata.api import views, watching

urlpatterns = [
    path("tip/", views.Tip.as_view(), name="api-chain-tip"),
    path("blocks/<block:named>/", views.OneBlock.as_view(), name="api-chain-block"),
    path("transactions/<hash:txid>/", views.OneTransaction.as_view(), name="api-chain-transaction"),
    path("addresses/<coin_address:text>/", views.OneAddress.as_view(), name="api-chain-address"),
    path("watched/", watching.WatchedAddresses.as_view(), name="api-chain-watched"),
    path("watched/<int:watched_id>/", watching.OneWatchedAddress.as_view(), name="api-chain-watched-address"),
    path("watched/<int:watched_id>/movements/", watching.Movements.as_view(), name="api-chain-movements"),
    path("watched/<int:watched_id>/review/", watching.ReviewMovements.as_view(), name="api-chain-movements-review"),
    path("watched/<int:watched_id>/stop/", watching.StopWatching.as_view(), name="api-chain-watched-stop"),
]
