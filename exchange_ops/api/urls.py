"""Addresses under /api/v1/."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from exchange_ops.api import keys, subaccounts, views
from exchange_ops.views import interface

urlpatterns = [
    path("withdrawals/", views.Withdrawals.as_view(), name="api-withdrawals"),
    path("withdrawals/<int:withdrawal_id>/", views.OneWithdrawal.as_view(), name="api-withdrawal"),
    path("ledger/", views.Ledger.as_view(), name="api-ledger"),
    path("balances/", views.Balances.as_view(), name="api-balances"),
    path("currencies/", views.Currencies.as_view(), name="api-currencies"),
    path("subaccounts/", subaccounts.SubAccounts.as_view(), name="api-subaccounts"),
    path("subaccounts/<int:exchange_id>/", subaccounts.OneSubAccount.as_view(), name="api-subaccount"),
    path(
        "subaccounts/<int:exchange_id>/actions/",
        subaccounts.SubAccountActions.as_view(),
        name="api-subaccount-actions",
    ),
    path("keys/", keys.Keys.as_view(), name="api-keys"),
    path("keys/<int:key_id>/", keys.OneKey.as_view(), name="api-key"),
    path("schema/", SpectacularAPIView.as_view(permission_classes=[views.MaySee]), name="schema"),
    path("docs/", interface.interface, name="api-docs"),
]
