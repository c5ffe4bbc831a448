"""Addresses of the pages and the interface of this room."""

from django.urls import path

from exchange_ops.addresses import api, views

urlpatterns = [
    path("funds/<slug:currency>/deposit/", views.deposit, name="deposit"),
    path("funds/<slug:currency>/deposit/read/", views.read, name="deposit-read"),
    path("funds/<slug:currency>/deposit/new/", views.new_address, name="deposit-new"),
]

api_urlpatterns = [
    path("deposit-addresses/", api.DepositAddresses.as_view(), name="api-deposit-addresses"),
]
