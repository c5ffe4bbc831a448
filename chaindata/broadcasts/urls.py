"""Addresses of the pages of this room."""

from django.urls import path

from chaindata import converters  # noqa: F401  # kinds of parts of addresses are registered there
from chaindata.broadcasts import views

urlpatterns = [
    path("chain/tools/transaction/", views.transaction, name="chain-tools-transaction"),
    path("chain/tools/broadcasts/", views.broadcast_list, name="chain-broadcasts"),
    path("chain/tools/broadcasts/new/", views.new, name="chain-broadcast-new"),
    path("chain/tools/broadcasts/<int:broadcast_id>/", views.broadcast, name="chain-broadcast"),
]
