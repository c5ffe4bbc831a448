"""Addresses of the pages and the interface of this room."""

from django.urls import path

from exchange_ops.positions import api
from exchange_ops.positions.views import actions, closing, detail, listing, new

urlpatterns = [
    path("margin/", listing.margin, name="margin"),
    path("margin/open/", new.open_account, name="margin-open"),
    path("margin/close-all/", closing.close_all, name="margin-close-all"),
    path("margin/figures/<slug:kind>/", new.figures, name="margin-figures"),
    path("margin/actions/<int:margin_action_id>/", actions.action, name="margin-action"),
    path("margin/actions/<int:margin_action_id>/settle/", actions.settle, name="margin-action-settle"),
    path("margin/<str:symbol>/", detail.symbol, name="margin-symbol"),
    path("margin/<str:symbol>/collateral/", new.collateral, name="margin-collateral"),
    path("margin/<str:symbol>/close-position/", new.close_position, name="margin-close-position"),
    path("margin/<str:symbol>/close-account/", new.close_account, name="margin-close-account"),
]

api_urlpatterns = [
    path("margin/actions/", api.MarginActions.as_view(), name="api-margin-actions"),
    path("margin/actions/<int:margin_action_id>/", api.OneMarginAction.as_view(), name="api-margin-action"),
]
