"""Addresses of the pages and the interface of this room."""

from django.urls import path

from exchange_ops.keys import api
from exchange_ops.keys.views import changes as key_changes
from exchange_ops.keys.views import listing as keys

urlpatterns = [
    path("keys/", keys.keys, name="keys"),
    path("keys/new/", key_changes.new, name="key-new"),
    path("keys/<int:key_id>/", keys.key, name="key"),
    path("keys/<int:key_id>/probe/", keys.probe, name="key-probe"),
    path("keys/<int:key_id>/rotate/", key_changes.rotate, name="key-rotate"),
    path("keys/<int:key_id>/switch/", key_changes.switch, name="key-switch"),
    path("keys/<int:key_id>/finish/", key_changes.finish, name="key-finish"),
    path("keys/<int:key_id>/go-back/", key_changes.go_back, name="key-go-back"),
    path("keys/<int:key_id>/disable/", key_changes.disable, name="key-disable"),
]

api_urlpatterns = [
    path("keys/", api.Keys.as_view(), name="api-keys"),
    path("keys/<int:key_id>/", api.OneKey.as_view(), name="api-key"),
]
