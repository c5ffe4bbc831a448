"""Addresses of the pages of this room."""

from django.urls import path

from exchange_ops.console import views as console

urlpatterns = [
    path("console/", console.index, name="console"),
    path("console/history/", console.history, name="console-history"),
    path("console/<slug:service>/<slug:operation>/", console.operation, name="console-operation"),
]
