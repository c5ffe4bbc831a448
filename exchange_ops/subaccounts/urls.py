"""Addresses of the pages and the interface of this room."""

from django.urls import path

from exchange_ops.subaccounts import api
from exchange_ops.subaccounts.views import decisions as subaccount_decisions
from exchange_ops.subaccounts.views import detail as subaccount
from exchange_ops.subaccounts.views import listing as subaccounts

urlpatterns = [
    path("subaccounts/", subaccounts.subaccounts, name="subaccounts"),
    path("subaccounts/read-again/", subaccounts.reread, name="subaccounts-reread"),
    path("subaccounts/freeze/", subaccount_decisions.freeze, name="subaccount-freeze"),
    path("subaccounts/activate/", subaccount_decisions.activate, name="subaccount-activate"),
    path("subaccounts/<int:exchange_id>/", subaccount.subaccount, name="subaccount"),
    path("subaccounts/<int:exchange_id>/settings/", subaccount.settings, name="subaccount-settings"),
    path("subaccounts/<int:exchange_id>/address/", subaccount.address, name="subaccount-address"),
    path(
        "subaccounts/<int:exchange_id>/actions/<int:action_id>/take-back/",
        subaccount.take_back,
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
