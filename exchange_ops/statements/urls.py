"""Addresses of the pages of this room."""

from django.urls import path

from exchange_ops.statements import views
from exchange_ops.statements.bookkeeping import views as bookkeeping
from exchange_ops.statements.bookkeeping.programs import PROGRAMS

urlpatterns = [
    path("statements/", views.page, name="statements"),
    path("statements/export.<slug:form>", views.export, name="statements-export"),
    path("statements/as-known/", views.as_known, name="balances-as-known"),
    path("statements/sign/", views.sign, name="statement-sign"),
    path("statements/signed/<int:signed_id>.json", views.signed, name="statement-signed"),
    path("statements/journal.csv", views.export_journal, name="statements-journal"),
    path("statements/accounts/", bookkeeping.chart, name="journal-accounts"),
    *(
        path(f"statements/journal/{name}/{file}", view, {"program": name}, name=f"journal-{name}{suffix}")
        for name in PROGRAMS
        for file, view, suffix in (("", bookkeeping.program, ""), ("file", bookkeeping.program_file, "-file"))
    ),
]
