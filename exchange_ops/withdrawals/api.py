"""Payouts for programs: read and draft. Approving takes a person and a page."""

from functools import partial

from django.db.models import QuerySet

from desk.api.resources import listing, reading, unpaged
from exchange_ops.market.models import Currency
from exchange_ops.shared.api.resources import Listing, OfAccount, Reading, Recording, recording
from exchange_ops.withdrawals import queries, workflow
from exchange_ops.withdrawals.api_shapes import CurrencyOut, WithdrawalIn, WithdrawalOut
from exchange_ops.withdrawals.forms import WithdrawalFilter
from exchange_ops.withdrawals.models import Withdrawal


@recording(
    "withdrawals_create",
    WithdrawalIn,
    WithdrawalOut,
    "Request a payout. Nothing is sent yet: the request is checked, then treasury decides.",
)
@listing("withdrawals_list", WithdrawalOut)
class Withdrawals(Recording, OfAccount):
    """The requests for payouts, fifty a page, newest first."""

    filter_form = WithdrawalFilter
    refused = workflow.CannotRequest
    record = staticmethod(partial(workflow.request, via="api"))

    queryset = Withdrawal.objects.select_related("initiator")

    def get_queryset(self) -> QuerySet[Withdrawal]:
        return queries.with_ends(super().get_queryset())


@reading("withdrawals_read", WithdrawalOut)
class OneWithdrawal(Reading):
    """One request as it stands now."""

    queryset = Withdrawal.objects.select_related("initiator")
    lookup_url_kwarg = "withdrawal_id"


@unpaged("currencies_list", CurrencyOut)
class Currencies(Listing):
    """Every currency of the exchange, and whether it can be paid out now."""

    queryset = Currency.objects.order_by("code")
