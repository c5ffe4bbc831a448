"""Addresses under /api/v1/."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from exchange_ops.addresses import api as funds
from exchange_ops.keys import api as keys
from exchange_ops.ledger import api as ledger_api
from exchange_ops.market import api as markets
from exchange_ops.orders import api as orders
from exchange_ops.pages import api as pages_api
from exchange_ops.pages import interface
from exchange_ops.positions import api as positions
from exchange_ops.shared.api import resources
from exchange_ops.subaccounts import api as subaccounts
from exchange_ops.transfers import api as transfers
from exchange_ops.withdrawals import api as views

urlpatterns = [
    path("withdrawals/", views.Withdrawals.as_view(), name="api-withdrawals"),
    path("withdrawals/<int:withdrawal_id>/", views.OneWithdrawal.as_view(), name="api-withdrawal"),
    path("transfers/", transfers.Transfers.as_view(), name="api-transfers"),
    path("transfers/<int:transfer_id>/", transfers.OneTransfer.as_view(), name="api-transfer"),
    path("transfers/<int:transfer_id>/cancel/", transfers.TransferCancel.as_view(), name="api-transfer-cancel"),
    path("funds/", pages_api.Funds.as_view(), name="api-funds"),
    path("deposit-addresses/", funds.DepositAddresses.as_view(), name="api-deposit-addresses"),
    path("orders/", orders.Orders.as_view(), name="api-orders"),
    path("orders/<int:order_id>/", orders.OneOrder.as_view(), name="api-order"),
    path("orders/<int:order_id>/cancel/", orders.CancelOrder.as_view(), name="api-order-cancel"),
    path("brackets/", orders.Brackets.as_view(), name="api-brackets"),
    path("brackets/<int:bracket_id>/", orders.OneBracket.as_view(), name="api-bracket"),
    path("brackets/<int:bracket_id>/end/", orders.EndBracket.as_view(), name="api-bracket-end"),
    path("orders/<int:order_id>/withdraw/", orders.WithdrawOrder.as_view(), name="api-order-withdraw"),
    path("trades/", orders.Trades.as_view(), name="api-trades"),
    path("margin/", orders.Margin.as_view(), name="api-margin"),
    path("margin/actions/", positions.MarginActions.as_view(), name="api-margin-actions"),
    path("margin/actions/<int:margin_action_id>/", positions.OneMarginAction.as_view(), name="api-margin-action"),
    path("ledger/", ledger_api.Ledger.as_view(), name="api-ledger"),
    path("balances/", ledger_api.Balances.as_view(), name="api-balances"),
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
    path("schema/", SpectacularAPIView.as_view(permission_classes=[resources.MaySee]), name="schema"),
    path("docs/", interface.interface, name="api-docs"),
]
