"""Funds and deposit addresses for programs: both wallets with their value, the addresses, and asking for a new one."""

from functools import partial
from typing import Any

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from desk import clock
from desk.api.fields import RequestKey, StrictBody, StrictText
from desk.api.resources import NOT_FOUND
from exchange_ops.addresses import requests
from exchange_ops.addresses.models import AddressBook, AddressRequest, DepositAddress
from exchange_ops.addresses.states import REQUEST_STATES
from exchange_ops.market import currencies
from exchange_ops.shared.api.resources import MaySeeAndDraft, Recording, recording
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts

MOST_ADDRESSES = 500
CURRENCY = OpenApiParameter("currency", OpenApiTypes.STR, required=True, description="Currency code.")


class DepositAddressOut(serializers.ModelSerializer[DepositAddress]):
    """An address to pay in to. A deposit needs its payment id and its public key as well, where it has them."""

    place = serializers.IntegerField(
        allow_null=True,
        read_only=True,
        help_text="Position among the last ten addresses in the exchange's list "
        "(1 is the newest); null if older but still valid.",
    )

    class Meta:
        model = DepositAddress
        fields = (
            "currency",
            "address",
            "payment_id",
            "public_key",
            "is_current",
            "place",
            "first_seen_at",
            "seen_at",
        )
        read_only_fields = fields


class AddressRequestOut(serializers.ModelSerializer[AddressRequest]):
    """A wish for a new address; `sentence` says first whether there is one."""

    state = serializers.ChoiceField(choices=list(REQUEST_STATES), read_only=True)
    sentence = serializers.CharField(read_only=True)
    initiator = serializers.CharField(source="initiator.username", read_only=True)
    address = serializers.CharField(source="made.address", read_only=True, default=None, allow_null=True)

    class Meta:
        model = AddressRequest
        fields = (
            "id",
            "currency",
            "state",
            "sentence",
            "initiator",
            "initiated_via",
            "request_key",
            "address",
            "last_problem",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields


class DepositAddressList(serializers.Serializer[Any]):
    """What is known of one currency's addresses; `read_at` is when the exchange last told it."""

    read_at = serializers.DateTimeField(allow_null=True)
    left_today = serializers.IntegerField(
        help_text="Estimated number of new addresses that can still be requested under the 24-hour limit."
    )
    latest_request = AddressRequestOut(allow_null=True)
    items = DepositAddressOut(many=True)


class AddressIn(StrictBody):
    """A new address to ask for. The older ones stay valid."""

    currency = StrictText(max_length=20)
    request_key = RequestKey()


class MaySeeAndAsk(MaySeeAndDraft):
    """Operators ask for new addresses as well."""

    message = "No new address was requested: only operators can request one."


@recording(
    "deposit_addresses_create",
    AddressIn,
    AddressRequestOut,
    "Request a new deposit address (at most five per currency in 24 hours). It is sent to the exchange only once.",
)
class DepositAddresses(Recording):
    """The addresses to pay in to."""

    permission_classes = (MaySeeAndAsk,)
    refused = requests.CannotAsk
    record = staticmethod(partial(requests.request, via="api"))

    @extend_schema(
        operation_id="deposit_addresses_list", parameters=[CURRENCY], responses={200: DepositAddressList, **NOT_FOUND}
    )
    def get(self, request: Request) -> Response:
        """The deposit addresses of one currency as they were last read, the newest first."""
        currency = currencies.currency(str(request.query_params.get("currency", "")).upper())
        if currency is None:
            raise Http404
        return Response(DepositAddressList(_addresses(accounts.required(request), currency.code)).data)


def _addresses(account: Account, code: str) -> dict[str, Any]:
    scope: dict[str, Any] = {"account": account, "currency": code}
    book = AddressBook.objects.filter(**scope).first()
    newest_requests = AddressRequest.objects.filter(**scope).select_related("initiator", "made").order_by("-pk")
    rows = list(DepositAddress.objects.filter(**scope).order_by("-first_seen_at", "-pk")[:MOST_ADDRESSES])
    rows.sort(key=lambda row: (not row.is_current, row.place is None, row.place or 0))
    return {
        "read_at": book.read_at if book else None,
        "left_today": requests.remaining_today(account=account, currency=code, now=clock.now()),
        "latest_request": newest_requests.first(),
        "items": rows,
    }
