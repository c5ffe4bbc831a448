"""Addresses of the pages and the interface of this room."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from desk.views import action
from exchange_ops.pages import api, currency, frame, freezing, funds, interface, policy, profit, search, system
from exchange_ops.pages.overview import views
from exchange_ops.pages.trading import desk
from exchange_ops.shared.api import resources

urlpatterns = [
    path("", views.overview, name="overview"),
    path("approvals/", action.page("approvals"), name="approvals"),
    path("funds/", funds.funds, name="funds"),
    path("funds/<str:currency>/", currency.currency, name="funds-currency"),
    path("profit/", profit.profit, name="profit"),
    path("profit/export.csv", profit.export, name="profit-export"),
    path("markets/<str:symbol>/", desk.market, name="market"),
    path("policy/", policy.policy, name="policy"),
    path("policy/frozen/", policy.frozen_note, name="frozen-note"),
    path("policy/freeze/", policy.freeze, name="freeze"),
    path("policy/freezes/new/", freezing.new, name="freeze-new"),
    path("policy/freezes/across/<int:wide_freeze_id>/", freezing.freeze, name="wide-freeze"),
    path("policy/freezes/across/<int:wide_freeze_id>/lift/", freezing.lift, name="wide-freeze-lift"),
    path("policy/freezes/<int:freeze_id>/thaw/", policy.thaw, name="thaw"),
    path("system/", system.system, name="system"),
    path("frame/", frame.frame, name="frame"),
    path("search/", search.find, name="search"),
    path("search/palette/", search.palette, name="palette"),
]

api_urlpatterns = [
    path("funds/", api.Funds.as_view(), name="api-funds"),
    path("schema/", SpectacularAPIView.as_view(permission_classes=[resources.MaySee]), name="schema"),
    path("docs/", interface.interface, name="api-docs"),
]
