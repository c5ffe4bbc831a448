"""Addresses of the pages of this room."""

from django.urls import path

from exchange_ops.statements import views

urlpatterns = [
    path("statements/", views.page, name="statements"),
    path("statements/export.<slug:form>", views.export, name="statements-export"),
    path("statements/journal.csv", views.export_journal, name="statements-journal"),
]
