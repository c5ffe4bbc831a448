"""Addresses of the pages of this room."""

from django.urls import path

from exchange_ops.statements import views

urlpatterns = [
    path("statements/", views.page, name="statements"),
    path("statements/export.<slug:form>", views.export, name="statements-export"),
    path("statements/sign/", views.sign, name="statement-sign"),
    path("statements/signed/<int:signed_id>.json", views.signed, name="statement-signed"),
    path("statements/journal.csv", views.export_journal, name="statements-journal"),
]
