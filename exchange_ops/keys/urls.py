"""Addresses of the pages and the interface of this room."""

from django.urls import path

from exchange_ops.keys import api
from exchange_ops.keys.views import changes, listing

urlpatterns = [
    path("keys/", listing.keys, name="keys"),
    path("keys/new/", changes.new, name="key-new"),
    path("keys/<int:key_id>/", listing.key, name="key"),
    path("keys/<int:key_id>/probe/", listing.probe, name="key-probe"),
    path("keys/<int:key_id>/rotate/", changes.rotate, name="key-rotate"),
    path("keys/<int:key_id>/switch/", changes.switch, name="key-switch"),
    path("keys/<int:key_id>/finish/", changes.finish, name="key-finish"),
    path("keys/<int:key_id>/go-back/", changes.go_back, name="key-go-back"),
    path("keys/<int:key_id>/disable/", changes.disable, name="key-disable"),
]

api_urlpatterns = [
    path("keys/", api.Keys.as_view(), name="api-keys"),
    path("keys/<int:key_id>/", api.OneKey.as_view(), name="api-key"),
]
