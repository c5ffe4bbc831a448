"""Addresses of the pages of this room."""

from django.urls import path

from exchange_ops.evidence import views

urlpatterns = [
    path("withdrawals/evidence.zip", views.download_period, name="evidence-of-period"),
    path("withdrawals/<int:withdrawal_id>/evidence.zip", views.download, name="withdrawal-evidence"),
    path("withdrawals/<int:withdrawal_id>/evidence.pdf", views.document, name="withdrawal-evidence-pdf"),
    path("withdrawals/<int:withdrawal_id>/as-known/", views.as_known, name="withdrawal-as-known"),
]
