"""Addresses of the pages of this room."""

from django.urls import path

from chaindata import converters  # noqa: F401  # kinds of parts of addresses are registered there
from chaindata.cash_accounts import views

urlpatterns = [
    path("chain/cash-accounts/", views.cash_accounts, name="chain-accounts"),
]
