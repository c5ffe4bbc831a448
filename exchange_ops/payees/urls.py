"""Addresses of the pages of this room."""

from django.urls import path

from exchange_ops.payees import import_views, views

lists = (views.PAYEES,)
urlpatterns = [
    path("payees/import/", import_views.new, name="payee-import"),
    path("payees/new/", views.new, name="payee-new"),
    path("payees/<int:payee_id>/", views.payee, name="payee"),
    path("payees/<int:payee_id>/approve/", views.approve, name="payee-approve"),
    path("payees/<int:payee_id>/reject/", views.reject, name="payee-reject"),
    path("payees/<int:payee_id>/withdraw/", views.withdraw, name="payee-withdraw"),
    path("payees/<int:payee_id>/remove/", views.remove, name="payee-remove"),
]
