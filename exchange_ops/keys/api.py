"""The keys of the exchange accounts under /api/v1/keys/: read only, and without their secrets."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from desk import clock
from desk.api.resources import reading, unpaged
from desk.audit.words import SYSTEM
from desk.models import Person
from exchange_ops.keys import rights, status
from exchange_ops.keys.models import ApiKey
from exchange_ops.shared import rules
from exchange_ops.shared.api.resources import Listing, Reading
from exchange_ops.shared.views import accounts
from exchange_ops.wire.catalogue import Right


class MaySeeKeys(BasePermission):
    """Administrators and auditors read the keys."""

    message = "Only administrators and auditors can see keys."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.user, Person) and rules.may_see_keys(request.user)


class KeyRight(serializers.Serializer[Any]):
    """One permission of a key: as declared, and as found when checked at the exchange."""

    name = serializers.ChoiceField(choices=[right.value for right in Right])
    declared = serializers.BooleanField()
    observed = serializers.ChoiceField(choices=[rights.GRANTED, rights.MISSING, rights.UNKNOWN])


class KeyOut(serializers.ModelSerializer[ApiKey]):
    """One API key. The secret is encrypted and never leaves the desk; `fingerprint` tells two secrets apart."""

    account = serializers.CharField(source="account.name", read_only=True)
    exchange = serializers.CharField(
        source="account.place", read_only=True, help_text="The account's exchange, by its name in the settings."
    )
    state = serializers.SerializerMethodField()
    rights = serializers.SerializerMethodField()
    added_by = serializers.CharField(source="created_by.username", default=SYSTEM, read_only=True)
    rotation_due = serializers.SerializerMethodField(help_text="Whether the key is at least 90 days old.")
    same_account = serializers.BooleanField(
        read_only=True, allow_null=True, help_text="False if the key belongs to a different account at the exchange."
    )

    class Meta:
        model = ApiKey
        fields = (
            "id",
            "account",
            "exchange",
            "label",
            "login",
            "last_four",
            "fingerprint",
            "state",
            "rights",
            "same_account",
            "replaces",
            "added_by",
            "created_at",
            "last_used_at",
            "probed_at",
            "probe_problem",
            "last_problem",
            "last_problem_at",
            "kept_at",
            "retired_at",
            "rotation_due",
        )
        read_only_fields = fields

    @extend_schema_field(serializers.ChoiceField(choices=[one.name for one in status.STATUSES]))
    def get_state(self, key: ApiKey) -> str:
        """The key's status, in one word."""
        return status.status_of(key).name

    @extend_schema_field(KeyRight(many=True))
    def get_rights(self, key: ApiKey) -> list[dict[str, Any]]:
        """Every permission of the exchange, in the order of its documentation."""
        return [
            {"name": right.value, "declared": right.value in key.rights, "observed": rights.observed(key, right)}
            for right in Right
        ]

    def get_rotation_due(self, key: ApiKey) -> bool:
        """Whether it should be replaced."""
        return status.view_of(key, now=clock.now()).rotation_due


@unpaged("keys_list", KeyOut)
class Keys(Listing):
    """The API keys of the exchange accounts, disabled ones last."""

    permission_classes = (MaySeeKeys,)
    queryset = ApiKey.objects.listed()

    def get_queryset(self) -> QuerySet[ApiKey]:
        return super().get_queryset().filter(account__in=accounts.in_view(self.request))


@reading("keys_read", KeyOut)
class OneKey(Reading):
    """One key, in its current state."""

    permission_classes = (MaySeeKeys,)
    queryset = ApiKey.objects.listed()
    lookup_url_kwarg = "key_id"
