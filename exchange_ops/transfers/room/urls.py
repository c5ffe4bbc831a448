"""Addresses of the pages and the interface of this room."""

from django.urls import path

from exchange_ops.transfers import api
from exchange_ops.transfers.views import actions as transfer_actions
from exchange_ops.transfers.views import detail as transfer
from exchange_ops.transfers.views import listing as transfers
from exchange_ops.transfers.views import new as new_transfer

lists = (transfers.TRANSFERS,)
urlpatterns = [
    path("transfers/new/<slug:kind>/", new_transfer.new, name="transfer-new"),
    path("transfers/new/<slug:kind>/figures/", new_transfer.figures, name="transfer-figures"),
    path("transfers/<int:transfer_id>/", transfer.transfer, name="transfer"),
    path("transfers/<int:transfer_id>/approve/", transfer_actions.approve, name="transfer-approve"),
    path("transfers/<int:transfer_id>/reject/", transfer_actions.reject, name="transfer-reject"),
    path("transfers/<int:transfer_id>/cancel/", transfer_actions.cancel, name="transfer-cancel"),
    path("transfers/<int:transfer_id>/close/", transfer_actions.close, name="transfer-close"),
    path("transfers/<int:transfer_id>/reissue/", transfer_actions.reissue, name="transfer-reissue"),
    path("transfers/<int:transfer_id>/resolve/", transfer_actions.resolve, name="transfer-resolve"),
]

api_urlpatterns = [
    path("transfers/", api.Transfers.as_view(), name="api-transfers"),
    path("transfers/<int:transfer_id>/", api.OneTransfer.as_view(), name="api-transfer"),
    path("transfers/<int:transfer_id>/cancel/", api.TransferCancel.as_view(), name="api-transfer-cancel"),
]
