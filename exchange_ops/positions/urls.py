"""Addresses of the pages and the interface of this room."""

from django.urls import path

from exchange_ops.positions import api as positions
from exchange_ops.positions.views import actions as margin_action
from exchange_ops.positions.views import closing as margin_closing
from exchange_ops.positions.views import detail as margin_detail
from exchange_ops.positions.views import listing as margin
from exchange_ops.positions.views import new as margin_new

urlpatterns = [
    path("margin/", margin.margin, name="margin"),
    path("margin/open/", margin_new.open_account, name="margin-open"),
    path("margin/close-all/", margin_closing.close_all, name="margin-close-all"),
    path("margin/figures/<slug:kind>/", margin_new.figures, name="margin-figures"),
    path("margin/actions/<int:margin_action_id>/", margin_action.action, name="margin-action"),
    path("margin/actions/<int:margin_action_id>/settle/", margin_action.settle, name="margin-action-settle"),
    path("margin/<str:symbol>/", margin_detail.symbol, name="margin-symbol"),
    path("margin/<str:symbol>/collateral/", margin_new.collateral, name="margin-collateral"),
    path("margin/<str:symbol>/close-position/", margin_new.close_position, name="margin-close-position"),
    path("margin/<str:symbol>/close-account/", margin_new.close_account, name="margin-close-account"),
]

api_urlpatterns = [
    path("margin/actions/", positions.MarginActions.as_view(), name="api-margin-actions"),
    path("margin/actions/<int:margin_action_id>/", positions.OneMarginAction.as_view(), name="api-margin-action"),
]
