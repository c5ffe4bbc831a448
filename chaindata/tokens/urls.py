"""Addresses of the pages of this room."""

from django.urls import path

from chaindata import converters  # noqa: F401  # kinds of parts of addresses are registered there
from chaindata.tokens import views

urlpatterns = [
    path("chain/tokens/", views.token_list, name="chain-tokens"),
    path("chain/tokens/<slug:token_id>/", views.token, name="chain-token"),
]
