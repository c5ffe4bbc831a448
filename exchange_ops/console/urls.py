"""Addresses of the pages of this room."""

from django.urls import path

from exchange_ops.console import views

urlpatterns = [
    path("console/", views.index, name="console"),
    path("console/history/", views.history, name="console-history"),
    path("console/<slug:service>/<slug:operation>/", views.operation, name="console-operation"),
]
