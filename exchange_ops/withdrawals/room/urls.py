"""Addresses of the pages and the interface of this room."""

from django.urls import path

from exchange_ops.withdrawals import api
from exchange_ops.withdrawals.views import actions, batches, detail, listing, new, payee_picker, schedules, templates

lists = (listing.WITHDRAWALS, schedules.SCHEDULES)
urlpatterns = [
    path("withdrawals/new/", new.new, name="withdrawal-new"),
    path("withdrawals/new/figures/", new.figures, name="withdrawal-figures"),
    path("withdrawals/new/payees/", payee_picker.picker, name="withdrawal-payees"),
    path("withdrawals/new/destination/", new.destination, name="withdrawal-destination"),
    path("withdrawals/batch/", batches.new, name="payout-batch-new"),
    path("withdrawals/batch/example.csv", batches.example, name="payout-batch-example"),
    path("withdrawals/batches/BT-<int:batch_id>/", batches.batch, name="payout-batch"),
    path("withdrawals/templates/", templates.listed, name="payout-templates"),
    path("withdrawals/templates/<int:template_id>/", templates.fill_in, name="payout-template"),
    path("withdrawals/templates/<int:template_id>/remove/", templates.remove, name="payout-template-remove"),
    path("withdrawals/templates/<int:template_id>/schedule/", schedules.new, name="payout-schedule-new"),
    path("withdrawals/schedules/<int:schedule_id>/", schedules.schedule, name="payout-schedule"),
    path("withdrawals/schedules/<int:schedule_id>/skip/", schedules.skip, name="payout-schedule-skip"),
    path("withdrawals/schedules/<int:schedule_id>/end/", schedules.end, name="payout-schedule-end"),
    path("withdrawals/<int:withdrawal_id>/template/", templates.save, name="payout-template-save"),
    path("withdrawals/<int:withdrawal_id>/", detail.withdrawal, name="withdrawal"),
    path("withdrawals/<int:withdrawal_id>/approve/", actions.approve, name="withdrawal-approve"),
    path("withdrawals/<int:withdrawal_id>/reject/", actions.reject, name="withdrawal-reject"),
    path("withdrawals/<int:withdrawal_id>/cancel/", actions.cancel, name="withdrawal-cancel"),
    path("withdrawals/<int:withdrawal_id>/recall/", actions.recall, name="withdrawal-recall"),
    path("withdrawals/<int:withdrawal_id>/resolve/", actions.resolve, name="withdrawal-resolve"),
    path("withdrawals/<int:withdrawal_id>/release/", actions.release, name="withdrawal-release"),
]

api_urlpatterns = [
    path("withdrawals/", api.Withdrawals.as_view(), name="api-withdrawals"),
    path("withdrawals/<int:withdrawal_id>/", api.OneWithdrawal.as_view(), name="api-withdrawal"),
    path("currencies/", api.Currencies.as_view(), name="api-currencies"),
]
