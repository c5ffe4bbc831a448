"""Addresses of the pages of this room."""

from django.urls import path

from exchange_ops.going_live import views as going_live

urlpatterns = [
    path("going-live/", going_live.page, name="going-live"),
    path("going-live/test-mail/", going_live.test_mail, name="going-live-test-mail"),
    path("going-live/<slug:name>/confirm/", going_live.confirm, name="going-live-confirm"),
]
