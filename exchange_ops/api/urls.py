"""Addresses under /api/v1/."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from exchange_ops.api import views
from exchange_ops.views import interface

urlpatterns = [
    path("withdrawals/", views.Withdrawals.as_view(), name="api-withdrawals"),
    path("withdrawals/<int:withdrawal_id>/", views.OneWithdrawal.as_view(), name="api-withdrawal"),
    path("ledger/", views.Ledger.as_view(), name="api-ledger"),
    path("balances/", views.Balances.as_view(), name="api-balances"),
    path("currencies/", views.Currencies.as_view(), name="api-currencies"),
    path("schema/", SpectacularAPIView.as_view(permission_classes=[views.MaySee]), name="schema"),
    path("docs/", interface.interface, name="api-docs"),
]
