"""Addresses under /api/v1/."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from exchange_ops.api import funds, keys, markets, orders, subaccounts, transfers, views
from exchange_ops.views import interface

urlpatterns = [
    path("withdrawals/", views.Withdrawals.as_view(), name="api-withdrawals"),
    path("withdrawals/<int:withdrawal_id>/", views.OneWithdrawal.as_view(), name="api-withdrawal"),
    path("transfers/", transfers.Transfers.as_view(), name="api-transfers"),
    path("transfers/<int:transfer_id>/", transfers.OneTransfer.as_view(), name="api-transfer"),
    path("transfers/<int:transfer_id>/cancel/", transfers.TransferCancel.as_view(), name="api-transfer-cancel"),
    path("funds/", funds.Funds.as_view(), name="api-funds"),
    path("deposit-addresses/", funds.DepositAddresses.as_view(), name="api-deposit-addresses"),
    path("orders/", orders.Orders.as_view(), name="api-orders"),
    path("orders/<int:order_id>/", orders.OneOrder.as_view(), name="api-order"),
    path("orders/<int:order_id>/cancel/", orders.CancelOrder.as_view(), name="api-order-cancel"),
    path("trades/", orders.Trades.as_view(), name="api-trades"),
    path("margin/", orders.Margin.as_view(), name="api-margin"),
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
    path("markets/", markets.Markets.as_view(), name="api-markets"),
    path("markets/<str:symbol>/", markets.OneMarket.as_view(), name="api-market"),
    path("markets/<str:symbol>/candles/", markets.Candles.as_view(), name="api-market-candles"),
    path("markets/<str:symbol>/trades/", markets.Trades.as_view(), name="api-market-trades"),
    path("markets/<str:symbol>/book/", markets.Book.as_view(), name="api-market-book"),
    path("schema/", SpectacularAPIView.as_view(permission_classes=[views.MaySee]), name="schema"),
    path("docs/", interface.interface, name="api-docs"),
]
