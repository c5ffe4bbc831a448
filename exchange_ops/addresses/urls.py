"""Addresses of the pages and the interface of this room."""

from django.urls import path

from exchange_ops.addresses import api as funds
from exchange_ops.addresses import views as deposit

urlpatterns = [
    path("funds/<slug:currency>/deposit/", deposit.deposit, name="deposit"),
    path("funds/<slug:currency>/deposit/read/", deposit.read, name="deposit-read"),
    path("funds/<slug:currency>/deposit/new/", deposit.new_address, name="deposit-new"),
]

api_urlpatterns = [
    path("deposit-addresses/", funds.DepositAddresses.as_view(), name="api-deposit-addresses"),
]
