"""Addresses of the pages of this room."""

from django.urls import path

from exchange_ops.going_live import views

urlpatterns = [
    path("going-live/", views.page, name="going-live"),
    path("going-live/test-mail/", views.test_mail, name="going-live-test-mail"),
    path("going-live/trial/", views.trial_signature, name="going-live-trial"),
    path("going-live/<slug:name>/confirm/", views.confirm, name="going-live-confirm"),
]
