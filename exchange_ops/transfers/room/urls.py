"""Addresses of the pages and the interface of this room."""

from django.urls import path

from exchange_ops.transfers import api
from exchange_ops.transfers.views import actions, detail, listing, new

lists = (listing.TRANSFERS,)
urlpatterns = [
    path("transfers/new/<slug:kind>/", new.new, name="transfer-new"),
    path("transfers/new/<slug:kind>/figures/", new.figures, name="transfer-figures"),
    path("transfers/<int:transfer_id>/", detail.transfer, name="transfer"),
    path("transfers/<int:transfer_id>/approve/", actions.approve, name="transfer-approve"),
    path("transfers/<int:transfer_id>/reject/", actions.reject, name="transfer-reject"),
    path("transfers/<int:transfer_id>/cancel/", actions.cancel, name="transfer-cancel"),
    path("transfers/<int:transfer_id>/close/", actions.close, name="transfer-close"),
    path("transfers/<int:transfer_id>/reissue/", actions.reissue, name="transfer-reissue"),
    path("transfers/<int:transfer_id>/resolve/", actions.resolve, name="transfer-resolve"),
]

api_urlpatterns = [
    path("transfers/", api.Transfers.as_view(), name="api-transfers"),
    path("transfers/<int:transfer_id>/", api.OneTransfer.as_view(), name="api-transfer"),
    path("transfers/<int:transfer_id>/cancel/", api.TransferCancel.as_view(), name="api-transfer-cancel"),
]
