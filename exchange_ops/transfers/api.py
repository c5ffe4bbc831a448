"""Transfers for programs: read, ask for one and take it back. Approving and closing take a person and a page."""

from collections.abc import Iterable
from functools import partial

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from desk import clock
from desk.api.fields import RequestKey, StrictBody, StrictChoice, StrictText
from desk.api.idempotency import once
from desk.api.parsing import BoundedJSONParser
from desk.api.refusals import CannotRecord
from desk.api.requests import ApiRequest
from desk.api.resources import NOT_FOUND, keyed, listing, read, reading
from exchange_ops.policy.groups.api import GroupNeedsOut
from exchange_ops.policy.groups.needs import Tally
from exchange_ops.shared.api.fields import AmountIn, AmountText, ExchangeIdIn, ExchangeIdText
from exchange_ops.shared.api.resources import MaySeeAndDraft, OfAccount, Reading, Recording, recording
from exchange_ops.shared.forms import LONGEST_REASON
from exchange_ops.shared.problems import FORM
from exchange_ops.transfers import approvals, states, workflow
from exchange_ops.transfers.forms import TransferFilter
from exchange_ops.transfers.models import Transfer

KINDS = list(states.KINDS)


class TransferOut(GroupNeedsOut, serializers.ModelSerializer[Transfer]):
    """A transfer as the desk knows it now. `sentence` says what happened to the money first."""

    reference = serializers.CharField(read_only=True)
    kind = serializers.ChoiceField(choices=KINDS, read_only=True)
    by = serializers.ChoiceField(
        choices=["", *states.IDENTIFIED_BY],
        read_only=True,
        help_text="Whether `identifier` is an e-mail address or a username; empty unless `kind` is to_user.",
    )
    amount = AmountText(read_only=True)
    subaccount_id = ExchangeIdText(read_only=True, allow_null=True)
    state = serializers.ChoiceField(choices=list(states.STATES), read_only=True)
    sentence = serializers.CharField(read_only=True)
    turn = serializers.ChoiceField(choices=["person", "worker", "exchange", "nobody"], read_only=True)
    initiator = serializers.CharField(source="initiator.username", read_only=True)
    reissues = serializers.IntegerField(
        source="reissues_id",
        read_only=True,
        allow_null=True,
        help_text="ID of the earlier transfer that this one replaces.",
    )
    second_id = serializers.CharField(
        read_only=True, allow_null=True, help_text="Transaction ID of the other side of the conversion."
    )
    ledger_seen_at = serializers.DateTimeField(
        read_only=True, allow_null=True, help_text="When a matching entry first appeared in the exchange's ledger."
    )

    class Meta:
        model = Transfer
        fields = (
            "id",
            "reference",
            "kind",
            "state",
            "turn",
            "sentence",
            "currency",
            "amount",
            "to_currency",
            "by",
            "identifier",
            "subaccount_id",
            "reason",
            "initiator",
            "initiated_via",
            "request_key",
            "quorum_required",
            "group_needs",
            "missing_approvals",
            "reissues",
            "exchange_id",
            "second_id",
            "ledger_seen_at",
            "last_problem",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields

    def tallies(self, rows: Iterable[Transfer]) -> dict[int, Tally]:
        """As the pages count them."""
        return approvals.tallies(row for row in rows if row.group_needs)


class TransferIn(StrictBody):
    """A transfer to ask for. What leaves for another user waits for people; the rest is sent by a worker, once."""

    kind = StrictChoice(choices=KINDS)
    currency = StrictText(max_length=20)
    amount = AmountIn()
    to_currency = StrictText(
        max_length=20, required=False, default="", allow_blank=True, help_text="For convert: the target currency."
    )
    by = StrictChoice(
        choices=["", *states.IDENTIFIED_BY],
        required=False,
        default="",
        help_text="For to_user: whether `identifier` is an e-mail address or a username.",
    )
    identifier = StrictText(
        max_length=254,
        required=False,
        default="",
        allow_blank=True,
        trim_whitespace=False,
        help_text="For to_user: the other user's e-mail address or username.",
    )
    subaccount_id = ExchangeIdIn(
        required=False, default=None, allow_null=True, help_text="Sub-account ID on the exchange."
    )
    reason = StrictText(max_length=LONGEST_REASON)
    request_key = RequestKey()


class CancelIn(StrictBody):
    """Why it is taken back."""

    reason = StrictText(max_length=LONGEST_REASON)


class MaySeeAndMove(MaySeeAndDraft):
    """Operators ask for transfers as well."""

    message = "Transfer not requested: only operators can request transfers."


@recording(
    "transfers_create",
    TransferIn,
    TransferOut,
    "Request a transfer. It is sent automatically, after approval where required.",
)
@listing("transfers_list", TransferOut)
class Transfers(Recording, OfAccount):
    """The transfers inside the exchange, fifty a page, newest first."""

    permission_classes = (MaySeeAndMove,)
    filter_form = TransferFilter
    queryset = Transfer.objects.select_related("initiator")
    refused = workflow.CannotTransfer
    record = staticmethod(partial(workflow.request, via="api"))


@reading("transfers_read", TransferOut)
class OneTransfer(Reading):
    """One transfer as it stands now."""

    queryset = Transfer.objects.select_related("initiator")
    lookup_url_kwarg = "transfer_id"


class TransferCancel(APIView):
    """Taking a transfer back."""

    permission_classes = (MaySeeAndMove,)
    parser_classes = (BoundedJSONParser,)

    @keyed(operation_id="transfers_cancel", request=CancelIn, responses={200: TransferOut, **NOT_FOUND})
    @once
    def post(self, request: ApiRequest, transfer_id: int) -> Response:
        """Call a transfer off. Only before the exchange was asked, and only by the one who asked for it."""
        get_object_or_404(Transfer, pk=transfer_id)
        content = read(CancelIn, request)
        try:
            row = workflow.cancel(transfer_id=transfer_id, person=request.user, now=clock.now(), **content)
        except workflow.CannotCancel as problem:
            raise CannotRecord({FORM: f"No changes made. {problem}"}) from None
        return Response(TransferOut(row).data)
