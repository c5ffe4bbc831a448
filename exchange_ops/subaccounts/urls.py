"""Addresses of the pages and the interface of this room."""

from django.urls import path

from exchange_ops.subaccounts import api
from exchange_ops.subaccounts.views import decisions, detail, listing

urlpatterns = [
    path("subaccounts/", listing.subaccounts, name="subaccounts"),
    path("subaccounts/read-again/", listing.reread, name="subaccounts-reread"),
    path("subaccounts/freeze/", decisions.freeze, name="subaccount-freeze"),
    path("subaccounts/activate/", decisions.activate, name="subaccount-activate"),
    path("subaccounts/<int:exchange_id>/", detail.subaccount, name="subaccount"),
    path("subaccounts/<int:exchange_id>/settings/", detail.settings, name="subaccount-settings"),
    path("subaccounts/<int:exchange_id>/address/", detail.address, name="subaccount-address"),
    path(
        "subaccounts/<int:exchange_id>/actions/<int:action_id>/take-back/",
        detail.take_back,
        name="subaccount-take-back",
    ),
]

api_urlpatterns = [
    path("subaccounts/", api.SubAccounts.as_view(), name="api-subaccounts"),
    path("subaccounts/<int:exchange_id>/", api.OneSubAccount.as_view(), name="api-subaccount"),
    path(
        "subaccounts/<int:exchange_id>/actions/",
        api.SubAccountActions.as_view(),
        name="api-subaccount-actions",
    ),
]
