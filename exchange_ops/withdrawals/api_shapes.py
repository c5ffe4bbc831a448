"""The members of payouts and currencies in requests and answers."""

from collections.abc import Iterable

from rest_framework import serializers

from desk.api.fields import RequestKey, StrictBody, StrictBoolean, StrictText
from exchange_ops.market.models import Currency
from exchange_ops.policy.groups.api import GroupNeedsOut
from exchange_ops.policy.groups.needs import Tally
from exchange_ops.shared.api.fields import AmountIn, AmountText
from exchange_ops.shared.forms import LONGEST_REASON
from exchange_ops.withdrawals import endings, request_checks, states
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.models import Withdrawal


class WithdrawalOut(GroupNeedsOut, serializers.ModelSerializer[Withdrawal]):
    """A request as the desk knows it now. `sentence` says what happened to the money first."""

    reference = serializers.CharField(read_only=True)
    amount = AmountText(read_only=True)
    fee = AmountText(source="known_fee", read_only=True, allow_null=True)
    fee_limit = AmountText(
        read_only=True,
        allow_null=True,
        help_text="The maximum fee covered by the approvals; a higher fee needs new approvals.",
    )
    arrives = AmountText(read_only=True, allow_null=True)
    leaves = AmountText(read_only=True, allow_null=True)
    state = serializers.ChoiceField(choices=list(states.STATES), read_only=True)
    sentence = serializers.CharField(read_only=True)
    label = serializers.CharField(  # type: ignore[assignment]  # a member; the framework takes it off the class
        read_only=True, help_text="Status label, or how the request ended."
    )
    end = serializers.ChoiceField(
        source="end.name",
        choices=["", *endings.ENDS],
        read_only=True,
        default="",
        help_text="How the request ended if it was not paid, such as rejected or expired; empty otherwise.",
    )
    turn = serializers.CharField(read_only=True, help_text="Who acts next: person, worker, exchange, chain or nobody.")
    initiator = serializers.CharField(source="initiator.username", read_only=True)

    class Meta:
        model = Withdrawal
        fields = (
            "id",
            "reference",
            "state",
            "label",
            "end",
            "turn",
            "sentence",
            "currency",
            "amount",
            "include_fee",
            "fee",
            "fee_limit",
            "arrives",
            "leaves",
            "address",
            "payment_id",
            "reason",
            "initiator",
            "initiated_via",
            "request_key",
            "quorum_required",
            "group_needs",
            "missing_approvals",
            "decision",
            "exchange_id",
            "hash",
            "confirmations",
            "approve_until",
            "rollback_at",
            "last_problem",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields

    def tallies(self, rows: Iterable[Withdrawal]) -> dict[int, Tally]:
        """As the pages count them."""
        return approvals.tallies(row for row in rows if row.group_needs)


class WithdrawalIn(StrictBody):
    """A request for a payout. It is only recorded: people decide."""

    currency = StrictText(max_length=20)
    amount = AmountIn()
    address = StrictText(max_length=400, trim_whitespace=False)
    payment_id = StrictText(max_length=400, required=False, default="", allow_blank=True, trim_whitespace=False)
    include_fee = StrictBoolean(required=False, default=False, help_text="Whether the fee is deducted from the amount.")
    reason = StrictText(max_length=LONGEST_REASON)
    request_key = RequestKey()


class CurrencyOut(serializers.ModelSerializer[Currency]):
    """One currency as the exchange describes it; `payout_problem` says why it can't be paid out now."""

    payout_fee = AmountText(read_only=True, allow_null=True)
    payout_minimal_amount = AmountText(read_only=True, allow_null=True)
    payout_problem = serializers.SerializerMethodField()

    class Meta:
        model = Currency
        fields = (
            "code",
            "full_name",
            "crypto",
            "payout_enabled",
            "delisted",
            "payout_is_payment_id",
            "payout_fee",
            "payout_minimal_amount",
            "precision_payout",
            "payout_problem",
            "read_at",
        )
        read_only_fields = fields

    def get_payout_problem(self, row: Currency) -> str:
        """Why it can't be paid out now; empty when it can."""
        return request_checks.currency_problem(row)
