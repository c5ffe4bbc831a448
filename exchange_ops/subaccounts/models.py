"""Sub-accounts: what was requested of each, what the exchange shows of it, and every action on it.

Only `exchange_ops.subaccounts.machine` writes the state of an action and what is requested of a sub-account; only
`exchange_ops.subaccounts.readings` writes what was observed. Source: exchange REST, Sub-accounts; supplement 2.7.
"""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from desk.machines.rows import CALL_OUTCOMES, Call, Event, Subject, is_a_move
from desk.questions import Question
from desk.rows.witnessed import Witnessed
from exchange_ops.shared.amounts import amount_field
from exchange_ops.shared.models import Account, OfAccount
from exchange_ops.subaccounts import states

LONGEST_DESCRIPTION = 255  # characters of a payout setting's description


class SubAccountReading(models.Model):
    """When the list of an account's sub-accounts was requested and last read, and what went wrong with the last try."""

    account = models.OneToOneField(Account, on_delete=models.PROTECT, related_name="subaccount_reading")
    asked_at = models.DateTimeField(null=True)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    tried_at = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=500, default="", blank=True)

    def __str__(self) -> str:
        return f"sub-accounts of {self.account_id}"

    @property
    def is_awaited(self) -> bool:
        """Whether somebody asked for a reading that was not tried yet."""
        return self.asked_at is not None and (self.tried_at is None or self.tried_at < self.asked_at)


class SubAccount(OfAccount, Witnessed):
    """One sub-account. `status` is the exchange's own word; the payout settings are shown only while it is open.

    `settings_at` is when the settings were last read, and `settings_shown` whether the answer had any: none means
    frozen or disabled (supplement 2.11). `closed_as` is what we know beyond that. Balances have rows of their own.
    """

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="subaccounts")
    exchange_id = models.BigIntegerField()
    email = models.CharField(max_length=254)
    status = models.CharField(max_length=40)
    closed_as = models.CharField(max_length=10, default="", blank=True)
    observed_at = models.DateTimeField()
    missing_since = models.DateTimeField(null=True)
    settings_shown = models.BooleanField(null=True)
    payout_enabled = models.BooleanField(null=True)
    description = models.CharField(max_length=LONGEST_DESCRIPTION, default="", blank=True)
    settings_at = models.DateTimeField(null=True)
    balances_asked_at = models.DateTimeField(null=True)
    balances_tried_at = models.DateTimeField(null=True)
    balances_at = models.DateTimeField(null=True)
    balances_problem = models.CharField(max_length=300, default="", blank=True)

    wanted = models.CharField(max_length=10, default="", blank=True)
    wanted_payout = models.BooleanField(null=True)
    wanted_description = models.CharField(max_length=LONGEST_DESCRIPTION, null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "exchange_id"], name="subaccount_one_row"),
            models.CheckConstraint(
                condition=Q(wanted__in=("", *states.REQUESTED_STATUSES)), name="subaccount_known_wish"
            ),
            models.CheckConstraint(
                condition=Q(closed_as__in=("", states.AS_FROZEN, states.AS_DISABLED)), name="subaccount_known_end"
            ),
        ]

    def __str__(self) -> str:
        return str(self.exchange_id)

    @property
    def subject(self) -> str:
        """How the audit trail and the live topics name it, for instance subaccount:7001."""
        return f"subaccount:{self.exchange_id}"


class SubAccountBalance(models.Model):
    """What one wallet of a sub-account held when it was last read; rows of zero are not kept."""

    MAIN, TRADING = "main", "trading"

    sub_account = models.ForeignKey(SubAccount, on_delete=models.CASCADE, related_name="balances")
    currency = models.CharField(max_length=20)
    wallet = models.CharField(max_length=10)
    available = amount_field()
    reserved = amount_field()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["sub_account", "currency", "wallet"], name="subaccountbalance_one_row")
        ]

    def __str__(self) -> str:
        return f"{self.currency} {self.wallet}"


class SubAccountAddress(Question):
    """A question for a sub-account's deposit address, and the exchange's answer; `address` is empty until then."""

    sub_account = models.ForeignKey(SubAccount, on_delete=models.CASCADE, related_name="addresses")
    currency = models.CharField(max_length=20)
    address = models.CharField(max_length=256, default="", blank=True)
    payment_id = models.CharField(max_length=256, default="", blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["sub_account", "currency"], name="subaccountaddress_one_row")
        ]

    def __str__(self) -> str:
        return f"{self.currency} {self.address}"


class SubAccountAction(Subject):
    """One action on one sub-account: freeze it, activate it, or change its payout settings.

    Several sub-accounts in one request are several actions with one request key, each with a call and an outcome of its
    own. `answer` is how the last call was answered: yes, no, already, unknown or lost.
    """

    table, mark, name = states.TABLE, "Action ", "subaccount"

    sub_account = models.ForeignKey(SubAccount, on_delete=models.PROTECT, related_name="actions")
    kind = models.CharField(max_length=10, choices=list(states.KINDS.items()))
    lane = models.CharField(max_length=10)
    wanted_payout = models.BooleanField(null=True)
    wanted_description = models.CharField(max_length=LONGEST_DESCRIPTION, null=True)
    reason = models.CharField(max_length=500)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    request_key = models.CharField(max_length=80)
    confirmation = models.ForeignKey("desk.StepUp", on_delete=models.PROTECT, null=True, related_name="+")
    digest = models.CharField(max_length=64)
    before = models.JSONField(default=dict)

    state = models.CharField(
        max_length=20, choices=[(name, s.label) for name, s in states.STATES.items()], default="requested"
    )
    attempt = models.PositiveIntegerField(default=0)
    looks = models.PositiveIntegerField(default=0)
    answer = models.CharField(max_length=10, default="", blank=True)
    answered_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["requested_by", "request_key", "sub_account"], name="subaccountaction_one_per_request_key"
            ),
            models.UniqueConstraint(
                fields=["sub_account", "kind"],
                condition=Q(state__in=states.OPEN_STATES),
                name="subaccountaction_one_open_of_a_kind",
            ),
            models.UniqueConstraint(
                fields=["sub_account", "lane"],
                condition=Q(state__in=states.IN_FLIGHT),
                name="subaccountaction_one_call_in_a_lane",
            ),
            models.CheckConstraint(
                condition=Q(kind=states.SETTINGS) | Q(confirmation__isnull=False),
                name="subaccountaction_status_needs_a_second_factor",
            ),
            models.CheckConstraint(
                condition=~Q(kind=states.SETTINGS)
                | Q(wanted_payout__isnull=False)
                | Q(wanted_description__isnull=False),
                name="subaccountaction_settings_change_something",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["state", "next_action_at"], name="subaccountaction_due"),
            models.Index(fields=["sub_account", "-id"], name="subaccountaction_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.label} {self.sub_account_id}"

    @property
    def scope(self) -> str:
        """The account that the sub-account belongs to, as the desk's roles name it."""
        return self.sub_account.scope

    @property
    def reference(self) -> str:
        """What is asked for of which one."""
        return f"{self.label} of {self.sub_account}"

    @property
    def subject(self) -> str:
        """The trail gathers what is asked for under the sub-account."""
        return str(self.sub_account.subject)

    @property
    def label(self) -> str:
        """What is asked for, in a few words."""
        return states.KINDS[self.kind]

    def action(self, event: str) -> str:
        """How the trail names a move of it: with what is asked for."""
        return f"{self.name}.{self.kind}_{event}"

    def trail_facts(self) -> dict[str, Any]:
        """Which action of the sub-account it is."""
        return {"action": self.pk}


class SubAccountEvent(Event):
    """One move of an action, written in the same transaction; `version` is the action's version after it."""

    action = models.ForeignKey(SubAccountAction, on_delete=models.PROTECT, related_name="events")
    event = models.CharField(max_length=20)

    class Meta:
        ordering: ClassVar = ["version"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["action", "version"], name="subaccountevent_one_per_version"),
            models.CheckConstraint(condition=is_a_move(states.TABLE), name="subaccountevent_is_a_move_of_the_table"),
        ]


class SubAccountCall(Call):
    """One call for an action, written and committed before its bytes leave; after `send_by` it is never sent."""

    owner = "action"

    action = models.ForeignKey(SubAccountAction, on_delete=models.PROTECT, related_name="calls")
    version = models.PositiveIntegerField(help_text="version of the action that this call belongs to")
    http_status = models.PositiveIntegerField(null=True)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["action", "attempt"], name="subaccountcall_one_per_attempt"),
            models.CheckConstraint(condition=Q(outcome__in=CALL_OUTCOMES), name="subaccountcall_known_outcome"),
        ]

    def __str__(self) -> str:
        return f"{self.action_id}, attempt {self.attempt}"
