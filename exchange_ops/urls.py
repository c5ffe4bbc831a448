"""Addresses of the pages about the exchange account."""

from django.urls import path

from exchange_ops.views import (
    approvals,
    find,
    ledger,
    new_withdrawal,
    overview,
    policy,
    system,
    withdrawal,
    withdrawal_actions,
    withdrawals,
)

urlpatterns = [
    path("", overview.overview, name="overview"),
    path("withdrawals/", withdrawals.withdrawals, name="withdrawals"),
    path("withdrawals/export.csv", withdrawals.export, name="withdrawals-export"),
    path("withdrawals/new/", new_withdrawal.new, name="withdrawal-new"),
    path("withdrawals/new/figures/", new_withdrawal.figures, name="withdrawal-figures"),
    path("withdrawals/new/destination/", new_withdrawal.destination, name="withdrawal-destination"),
    path("withdrawals/<int:withdrawal_id>/", withdrawal.withdrawal, name="withdrawal"),
    path("withdrawals/<int:withdrawal_id>/approve/", withdrawal_actions.approve, name="withdrawal-approve"),
    path("withdrawals/<int:withdrawal_id>/reject/", withdrawal_actions.reject, name="withdrawal-reject"),
    path("withdrawals/<int:withdrawal_id>/cancel/", withdrawal_actions.cancel, name="withdrawal-cancel"),
    path("withdrawals/<int:withdrawal_id>/recall/", withdrawal_actions.recall, name="withdrawal-recall"),
    path("withdrawals/<int:withdrawal_id>/resolve/", withdrawal_actions.resolve, name="withdrawal-resolve"),
    path("approvals/", approvals.approvals, name="approvals"),
    path("approvals/count/", approvals.count, name="approvals-count"),
    path("ledger/", ledger.ledger, name="ledger"),
    path("policy/", policy.policy, name="policy"),
    path("policy/freeze/", policy.freeze, name="freeze"),
    path("policy/freezes/<int:freeze_id>/thaw/", policy.thaw, name="thaw"),
    path("system/", system.system, name="system"),
    path("system/strip/", system.strip, name="strip"),
    path("search/", find.find, name="search"),
]
