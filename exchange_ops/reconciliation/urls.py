"""Addresses of the pages of this room."""

from django.urls import path

from exchange_ops.reconciliation import views

urlpatterns = [
    path("reconciliation/", views.page, name="reconciliation"),
    path("reconciliation/export.<slug:form>", views.export, name="reconciliation-export"),
]
