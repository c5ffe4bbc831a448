"""Addresses of the pages and the interface of this room."""

from django.urls import path

from exchange_ops.withdrawals import api as views
from exchange_ops.withdrawals.views import actions as withdrawal_actions
from exchange_ops.withdrawals.views import detail as withdrawal
from exchange_ops.withdrawals.views import listing as withdrawals
from exchange_ops.withdrawals.views import new as new_withdrawal

lists = (withdrawals.WITHDRAWALS,)
urlpatterns = [
    path("withdrawals/new/", new_withdrawal.new, name="withdrawal-new"),
    path("withdrawals/new/figures/", new_withdrawal.figures, name="withdrawal-figures"),
    path("withdrawals/new/destination/", new_withdrawal.destination, name="withdrawal-destination"),
    path("withdrawals/<int:withdrawal_id>/", withdrawal.withdrawal, name="withdrawal"),
    path("withdrawals/<int:withdrawal_id>/approve/", withdrawal_actions.approve, name="withdrawal-approve"),
    path("withdrawals/<int:withdrawal_id>/reject/", withdrawal_actions.reject, name="withdrawal-reject"),
    path("withdrawals/<int:withdrawal_id>/cancel/", withdrawal_actions.cancel, name="withdrawal-cancel"),
    path("withdrawals/<int:withdrawal_id>/recall/", withdrawal_actions.recall, name="withdrawal-recall"),
    path("withdrawals/<int:withdrawal_id>/resolve/", withdrawal_actions.resolve, name="withdrawal-resolve"),
    path("withdrawals/<int:withdrawal_id>/release/", withdrawal_actions.release, name="withdrawal-release"),
]

api_urlpatterns = [
    path("withdrawals/", views.Withdrawals.as_view(), name="api-withdrawals"),
    path("withdrawals/<int:withdrawal_id>/", views.OneWithdrawal.as_view(), name="api-withdrawal"),
    path("currencies/", views.Currencies.as_view(), name="api-currencies"),
]
