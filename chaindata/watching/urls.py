"""Addresses of the pages of this room."""

from django.urls import path

from chaindata import converters  # noqa: F401  # kinds of parts of addresses are registered there
from chaindata.watching import views as watching

urlpatterns = [
    path("chain/watched/", watching.watched_list, name="chain-watched"),
    path("chain/watched/new/", watching.new, name="chain-watched-new"),
    path("chain/watched/<int:watched_id>/", watching.watched, name="chain-watched-address"),
    path("chain/watched/<int:watched_id>/review/", watching.review, name="chain-watched-review"),
    path("chain/watched/<int:watched_id>/stop/", watching.stop, name="chain-watched-stop"),
]
