"""Addresses of the pages and the interface of this room."""

from django.urls import path

from exchange_ops.orders import api
from exchange_ops.orders.views import brackets, fills
from exchange_ops.orders.views import decisions as order_decisions
from exchange_ops.orders.views import detail as order
from exchange_ops.orders.views import listing as orders
from exchange_ops.orders.views import new as new_order
from exchange_ops.orders.views import replacing as replacing_order

lists = (orders.ORDERS, fills.FILLS, brackets.BRACKETS)
urlpatterns = [
    path("orders/refresh/", orders.refresh, name="orders-refresh"),
    path("orders/cancel-all/", orders.cancel_all, name="orders-cancel-all"),
    path("orders/cancel-chosen/", orders.cancel_chosen, name="orders-cancel-chosen"),
    path("orders/brackets/<int:bracket_id>/", brackets.bracket, name="bracket"),
    path("orders/brackets/<int:bracket_id>/end/", brackets.end, name="bracket-end"),
    path("orders/brackets/<int:bracket_id>/let-go/", brackets.let_go, name="bracket-let-go"),
    path("orders/brackets/<int:bracket_id>/stop/", brackets.place_stop, name="bracket-stop"),
    path("orders/new/", new_order.new, name="order-new"),
    path("orders/new/figures/", new_order.figures, name="order-figures"),
    path("orders/<int:order_id>/", order.order, name="order"),
    path("orders/<int:order_id>/cancel/", order.cancel, name="order-cancel"),
    path("orders/<int:order_id>/guard/", brackets.guard, name="order-guard"),
    path("orders/<int:order_id>/approve/", order_decisions.approve, name="order-approve"),
    path("orders/<int:order_id>/decline/", order_decisions.decline, name="order-decline"),
    path("orders/<int:order_id>/withdraw/", order_decisions.withdraw, name="order-withdraw"),
    path("orders/<int:order_id>/replace/", replacing_order.replace, name="order-replace"),
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
