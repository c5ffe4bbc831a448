"""Addresses of the pages and the interface of this room."""

from django.urls import path

from exchange_ops.orders import api
from exchange_ops.orders.views import brackets, decisions, detail, fills, listing, new, replacing

lists = (listing.ORDERS, fills.FILLS, brackets.BRACKETS)
urlpatterns = [
    path("orders/refresh/", listing.refresh, name="orders-refresh"),
    path("orders/cancel-all/", listing.cancel_all, name="orders-cancel-all"),
    path("orders/cancel-chosen/", listing.cancel_chosen, name="orders-cancel-chosen"),
    path("orders/brackets/<int:bracket_id>/", brackets.bracket, name="bracket"),
    path("orders/brackets/<int:bracket_id>/end/", brackets.end, name="bracket-end"),
    path("orders/brackets/<int:bracket_id>/let-go/", brackets.let_go, name="bracket-let-go"),
    path("orders/brackets/<int:bracket_id>/stop/", brackets.place_stop, name="bracket-stop"),
    path("orders/new/", new.new, name="order-new"),
    path("orders/new/figures/", new.figures, name="order-figures"),
    path("orders/<int:order_id>/", detail.order, name="order"),
    path("orders/<int:order_id>/cancel/", detail.cancel, name="order-cancel"),
    path("orders/<int:order_id>/guard/", brackets.guard, name="order-guard"),
    path("orders/<int:order_id>/approve/", decisions.approve, name="order-approve"),
    path("orders/<int:order_id>/decline/", decisions.decline, name="order-decline"),
    path("orders/<int:order_id>/withdraw/", decisions.withdraw, name="order-withdraw"),
    path("orders/<int:order_id>/replace/", replacing.replace, name="order-replace"),
]

api_urlpatterns = [
    path("orders/", api.Orders.as_view(), name="api-orders"),
    path("orders/<int:order_id>/", api.OneOrder.as_view(), name="api-order"),
    path("orders/<int:order_id>/cancel/", api.CancelOrder.as_view(), name="api-order-cancel"),
    path("brackets/<int:bracket_id>/", api.OneBracket.as_view(), name="api-bracket"),
    path("brackets/<int:bracket_id>/end/", api.EndBracket.as_view(), name="api-bracket-end"),
    path("orders/<int:order_id>/withdraw/", api.WithdrawOrder.as_view(), name="api-order-withdraw"),
    path("margin/", api.Margin.as_view(), name="api-margin"),
]
