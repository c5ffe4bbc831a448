"""Addresses of the pages and the interface of this room."""

from django.urls import path

from exchange_ops.market import api
from exchange_ops.market.views import listing as markets
from exchange_ops.market.views import steps as market_steps

urlpatterns = [
    path("markets/", markets.table, name="markets"),
    path("markets/find/", market_steps.find, name="markets-find"),
    path("markets/<str:symbol>/older/", market_steps.older, name="market-older"),
    path("markets/<str:symbol>/star/", market_steps.star, name="market-star"),
]

api_urlpatterns = [
    path("markets/", api.Markets.as_view(), name="api-markets"),
    path("markets/<str:symbol>/", api.OneMarket.as_view(), name="api-market"),
    path("markets/<str:symbol>/candles/", api.Candles.as_view(), name="api-market-candles"),
    path("markets/<str:symbol>/trades/", api.Trades.as_view(), name="api-market-trades"),
    path("markets/<str:symbol>/book/", api.Book.as_view(), name="api-market-book"),
]
