"""The sub-accounts for programs: read only. Freezing, activating and setting take an admin, a page and a reason."""

from django.db.models import Prefetch, QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from desk.api.resources import NOT_FOUND, listing, reading, unpaged
from exchange_ops.shared.api.fields import AmountText, ExchangeIdText
from exchange_ops.shared.api.resources import Listing, OfAccount, Reading
from exchange_ops.shared.views import accounts
from exchange_ops.subaccounts import account_status, states
from exchange_ops.subaccounts.models import SubAccount, SubAccountAction, SubAccountBalance


class SubAccountOut(serializers.ModelSerializer[SubAccount]):
    """One sub-account: what was asked for beside what the exchange showed when it was last read."""

    id = ExchangeIdText(source="exchange_id", read_only=True, help_text="Sub-account ID on the exchange.")
    status = serializers.CharField(read_only=True, help_text="The exchange's own status: new, active or disable.")
    standing = serializers.SerializerMethodField()
    sentence = serializers.SerializerMethodField(help_text="Status as a sentence.")
    requested = serializers.ChoiceField(
        source="wanted",
        choices=("", *states.REQUESTED_STATUSES),
        read_only=True,
        help_text="Requested status; empty if none was requested.",
    )
    difference = serializers.SerializerMethodField(
        help_text="Label comparing the requested status with the observed one."
    )
    differs = serializers.SerializerMethodField(help_text="Whether the difference needs review.")
    settings_shown = serializers.BooleanField(
        read_only=True,
        allow_null=True,
        help_text="Whether the exchange returned the sub-account's settings; null before the first sync.",
    )
    payout_enabled = serializers.BooleanField(
        read_only=True, allow_null=True, help_text="Last value returned by the exchange."
    )
    requested_payout = serializers.BooleanField(source="wanted_payout", read_only=True, allow_null=True)
    requested_description = serializers.CharField(source="wanted_description", read_only=True, allow_null=True)

    class Meta:
        model = SubAccount
        fields: tuple[str, ...] = (
            "id",
            "email",
            "status",
            "standing",
            "sentence",
            "requested",
            "difference",
            "differs",
            "settings_shown",
            "payout_enabled",
            "description",
            "requested_payout",
            "requested_description",
            "observed_at",
            "settings_at",
            "balances_at",
            "missing_since",
        )
        read_only_fields = fields

    @extend_schema_field(
        serializers.ChoiceField(
            choices=account_status.NAMES,
            help_text="Derived from all observations. closed: frozen or disabled (the exchange uses one status "
            "for both).",
        )
    )
    def get_standing(self, row: SubAccount) -> str:
        """One of the names of a standing."""
        return account_status.status_of(row).name

    def get_sentence(self, row: SubAccount) -> str:
        "Status as a sentence."
        return account_status.status_of(row).sentence

    def get_difference(self, row: SubAccount) -> str:
        """Label comparing the requested status with the observed one."""
        return self._difference(row).label

    def get_differs(self, row: SubAccount) -> bool:
        "Whether the difference needs review."
        return self._difference(row).tone == "bad"

    def _difference(self, row: SubAccount) -> account_status.Difference:
        return account_status.difference(row, row.under_way)  # type: ignore[attr-defined]


class SubAccountBalanceOut(serializers.ModelSerializer[SubAccountBalance]):
    """What one wallet of a sub-account held when it was last read."""

    available = AmountText(read_only=True)
    reserved = AmountText(read_only=True)

    class Meta:
        model = SubAccountBalance
        fields = ("currency", "wallet", "available", "reserved")
        read_only_fields = fields


class OneSubAccountOut(SubAccountOut):
    """One sub-account with its balances; a wallet and currency that is left out held nothing."""

    balances = SubAccountBalanceOut(many=True, read_only=True)

    class Meta(SubAccountOut.Meta):
        fields = (*SubAccountOut.Meta.fields, "balances")
        read_only_fields = fields


class SubAccountActionOut(serializers.ModelSerializer[SubAccountAction]):
    """One thing that was asked for a sub-account, and what became of it."""

    kind = serializers.ChoiceField(choices=list(states.KINDS), read_only=True)
    state = serializers.ChoiceField(choices=list(states.STATES), read_only=True)
    sentence = serializers.CharField(read_only=True, help_text="What happened and who can act next.")
    requested_by = serializers.CharField(source="requested_by.username", read_only=True)
    requested_payout = serializers.BooleanField(source="wanted_payout", read_only=True, allow_null=True)
    requested_description = serializers.CharField(source="wanted_description", read_only=True, allow_null=True)
    attempts = serializers.IntegerField(
        source="attempt",
        read_only=True,
        help_text="Number of send attempts (an upper bound: an attempt may not have reached the exchange).",
    )

    class Meta:
        model = SubAccountAction
        fields = (
            "id",
            "kind",
            "state",
            "sentence",
            "reason",
            "requested_by",
            "requested_payout",
            "requested_description",
            "attempts",
            "last_problem",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields


@unpaged("subaccounts_list", SubAccountOut)
class SubAccounts(OfAccount):
    """The sub-accounts of the account as they were last read; `observed_at` says when."""

    queryset = SubAccount.objects.order_by("exchange_id")

    def get_queryset(self) -> QuerySet[SubAccount]:
        return _with_actions(super().get_queryset())


@reading("subaccounts_read", OneSubAccountOut)
class OneSubAccount(Reading):
    """One sub-account as it was last read, with its balances."""

    lookup_field = "exchange_id"

    def get_queryset(self) -> QuerySet[SubAccount]:
        rows = SubAccount.objects.filter(account=accounts.required(self.request))
        return _with_actions(rows).prefetch_related("balances")


@listing("subaccounts_actions_list", SubAccountActionOut, NOT_FOUND)
class SubAccountActions(Listing):
    """What was asked for one sub-account, fifty a page, newest first."""

    def get_queryset(self) -> QuerySet[SubAccountAction]:
        account = accounts.required(self.request)
        row = get_object_or_404(SubAccount, account=account, exchange_id=self.kwargs["exchange_id"])
        return row.actions.select_related("requested_by")


def _with_actions(rows: QuerySet[SubAccount]) -> QuerySet[SubAccount]:
    under_way = SubAccountAction.objects.filter(state__in=states.OPEN_STATES)
    return rows.prefetch_related(Prefetch("actions", under_way, to_attr="under_way"))
