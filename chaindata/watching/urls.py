"""Addresses of the pages of this room."""

from django.urls import path

from chaindata import converters  # noqa: F401  # kinds of parts of addresses are registered there
from chaindata.watching import views

urlpatterns = [
    path("chain/watched/", views.watched_list, name="chain-watched"),
    path("chain/watched/new/", views.new, name="chain-watched-new"),
    path("chain/watched/<int:watched_id>/", views.watched, name="chain-watched-address"),
    path("chain/watched/<int:watched_id>/review/", views.review, name="chain-watched-review"),
    path("chain/watched/<int:watched_id>/stop/", views.stop, name="chain-watched-stop"),
]
