"""Watched addresses for programs: read, added, ended and reviewed, by whom the pages let do it and as they do it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from rest_framework.response import Response
from rest_framework.views import APIView

from chaindata import rules
from chaindata.api import watching_shapes
from chaindata.api.permissions import MaySeeChain, reading_or
from chaindata.shared.addresses import NotAnAddress
from chaindata.watching import pages, requests
from chaindata.watching.models import ChainMovement
from desk import clock
from desk.api.idempotency import once
from desk.api.parsing import BoundedJSONParser
from desk.api.refusals import FORM, CannotRecord
from desk.api.requests import ApiRequest
from desk.api.resources import NOT_FOUND, Listing, Reading, keyed, listing, read, reading

_KEEPERS = (reading_or(rules.may_watch, requests.ONLY_KEEPERS),)
_REVIEWERS = (reading_or(rules.may_review, requests.ONLY_REVIEWERS),)


@listing("chain_watched_list", watching_shapes.WatchedAddressOut)
class WatchedAddresses(Listing):
    """Watched and formerly watched addresses, 50 per page, newest first."""

    permission_classes = _KEEPERS
    parser_classes = (BoundedJSONParser,)
    queryset = requests.listing()

    @keyed(
        operation_id="chain_watched_create",
        request=watching_shapes.WatchIn,
        responses={201: watching_shapes.WatchedAddressOut, **NOT_FOUND},
    )
    @once
    def post(self, request: ApiRequest) -> Response:
        """Start watching an address. Requires treasury or an administrator with access to all accounts."""
        content = read(watching_shapes.WatchIn, request)
        with _refusals():
            row = requests.watch(**content, person=request.user, now=clock.now())
        return Response(watching_shapes.WatchedAddressOut(requests.by_id(row.pk)).data, status=201)


@reading("chain_watched_read", watching_shapes.WatchedAddressOut)
class OneWatchedAddress(Reading):
    """One watched address, in its current state."""

    permission_classes = (MaySeeChain,)
    queryset = requests.listing()
    lookup_url_kwarg = "watched_id"


@listing("chain_movements_list", watching_shapes.ChainMovementOut, NOT_FOUND)
class Movements(Listing):
    """Movements on a watched address since watching began, 50 per page, newest first."""

    permission_classes = (MaySeeChain,)
    queryset = ChainMovement.objects.all()  # the description asks what they are of

    def get_queryset(self) -> QuerySet[Any]:
        """Of the address in the path; everything, where the description is made."""
        if getattr(self, "swagger_fake_view", False):
            return super().get_queryset()
        row = get_object_or_404(requests.listing(), pk=self.kwargs["watched_id"])
        return pages.with_reviewers(requests.movements(row))


class StopWatching(APIView):
    """Watching an address no more."""

    permission_classes = _KEEPERS
    parser_classes = (BoundedJSONParser,)

    @keyed(
        operation_id="chain_watched_stop",
        request=watching_shapes.WatchStopIn,
        responses={200: watching_shapes.WatchedAddressOut, **NOT_FOUND},
    )
    @once
    def post(self, request: ApiRequest, watched_id: int) -> Response:
        """Stop watching an address. Its movements are kept; unreviewed ones still need review."""
        get_object_or_404(requests.listing(), pk=watched_id)
        content = read(watching_shapes.WatchStopIn, request)
        with _refusals():
            requests.stop(watched_id=watched_id, **content, person=request.user, now=clock.now())
        return Response(watching_shapes.WatchedAddressOut(requests.by_id(watched_id)).data)


class ReviewMovements(APIView):
    """Saying that a movement was meant to be, or what was done about it."""

    permission_classes = _REVIEWERS
    parser_classes = (BoundedJSONParser,)

    @keyed(
        operation_id="chain_movements_review",
        request=watching_shapes.MovementReviewIn,
        responses={200: watching_shapes.MovementsReviewedOut, **NOT_FOUND},
    )
    @once
    def post(self, request: ApiRequest, watched_id: int) -> Response:
        """Mark one movement, or all incoming ones, as reviewed. Requires an operator, treasury or an administrator."""
        get_object_or_404(requests.listing(), pk=watched_id)
        content = read(watching_shapes.MovementReviewIn, request)
        arguments = {"movement_id": content["movement"], "reason": content["reason"]}
        with _refusals():
            count = requests.review_movements(watched_id=watched_id, **arguments, person=request.user, now=clock.now())
        row: Any = requests.by_id(watched_id)
        return Response(
            watching_shapes.MovementsReviewedOut({"reviewed": count, "waiting": row.waiting if row else 0}).data
        )


@contextmanager
def _refusals() -> Iterator[None]:
    """Answer what the rules refuse as a refused body."""
    try:
        yield
    except NotAnAddress as problem:
        raise CannotRecord({"address": str(problem)}) from None
    except requests.CannotWatch as problem:
        raise CannotRecord({FORM: f"No changes made. {problem}"}) from None
