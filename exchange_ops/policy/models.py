"""Who has to agree to what: published versions of the rules, and the freezes that stop everything."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from desk.rows.witnessed import Witnessed
from exchange_ops.policy import payout_rules
from exchange_ops.policy.groups import needs as group_needs
from exchange_ops.policy.modes import APPROVE_THEN_HOLD, BEYOND, HOLD_THEN_APPROVE, REFUSE
from exchange_ops.policy.payout_rules import PayoutRule
from exchange_ops.shared.amounts import amount_field
from exchange_ops.shared.models import Account


def _of_one_kind() -> models.Q:
    """A freeze names an account, a currency, an address or nothing, as its kind says."""
    nothing = {"currency": "", "address": "", "destination": ""}
    across = models.Q(account__isnull=True)
    of_address = across & models.Q(kind="destination", currency="") & ~models.Q(address="") & ~models.Q(destination="")
    return (
        models.Q(kind="account", account__isnull=False, **nothing)
        | across & models.Q(kind="currency", address="", destination="") & ~models.Q(currency="")
        | of_address
        | across & models.Q(kind="everything", **nothing)
    )


class PolicyVersion(Witnessed):
    """One published set of rules. The highest number is in force; a version is never changed once it is published.

    `price_distance` is how much worse than the market, in percent, an order's price may be; `price_beyond` is what
    happens beyond it. Without a distance the desk's default applies, and going beyond it has to be confirmed.
    `fee_factor` and `fee_floor` are the margin of network fees (`fee_margins`); without them the default applies.
    `groups` are the approval groups, each a name and the numbers of its members (`group_needs`).
    """

    number = models.PositiveIntegerField(unique=True)
    note = models.CharField(max_length=300, default="", blank=True)
    value_max_age_s = models.PositiveIntegerField(default=300)
    price_distance = amount_field(null=True)
    price_beyond = models.CharField(max_length=10, default=REFUSE, choices=list(BEYOND.items()))
    fee_factor = amount_field(null=True)
    fee_floor = amount_field(null=True)
    groups = models.JSONField(null=True)
    published_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    published_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"policy {self.number}"


class QuorumTier(Witnessed):
    """How many approvals a value up to and including `up_to` needs; the tier without `up_to` covers the rest.

    Without an account it applies to every account that has no tiers of its own in this version. `needs` are those
    approvals that groups have to give, each with the name of the group and their number.
    """

    policy = models.ForeignKey(PolicyVersion, on_delete=models.PROTECT, related_name="tiers")
    account = models.ForeignKey(Account, on_delete=models.PROTECT, null=True, related_name="+")
    currency = models.CharField(max_length=20, default="USD")
    up_to = amount_field(null=True)
    approvals = models.PositiveSmallIntegerField()
    needs = models.JSONField(null=True)
    mode = models.CharField(
        max_length=20, choices=[(HOLD_THEN_APPROVE, "hold first"), (APPROVE_THEN_HOLD, "approve first")]
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["policy", "up_to"], condition=models.Q(account__isnull=True), name="quorumtier_one_per_limit"
            ),
            models.UniqueConstraint(
                fields=["policy"],
                condition=models.Q(up_to__isnull=True, account__isnull=True),
                name="quorumtier_one_for_the_rest",
            ),
            models.UniqueConstraint(
                fields=["policy", "account", "up_to"],
                condition=models.Q(account__isnull=False),
                name="quorumtier_one_per_limit_of_an_account",
            ),
            models.UniqueConstraint(
                fields=["policy", "account"],
                condition=models.Q(up_to__isnull=True, account__isnull=False),
                name="quorumtier_one_for_the_rest_of_an_account",
            ),
            models.CheckConstraint(condition=models.Q(approvals__gte=1), name="quorumtier_needs_an_approval"),
        ]

    def __str__(self) -> str:
        return f"{self.approvals} up to {self.up_to}"


class ValueLimit(Witnessed):
    """The largest value of one order or transfer in the account's quote currency, or the largest number of orders that
    a person has open. Of all limits that apply the strictest decides.

    Without a person it applies to everybody, without an account to all of them. `beyond` is what happens beyond it.
    """

    ORDER, TRANSFER, OPEN_ORDERS = "order", "transfer", "open"
    KINDS = (ORDER, TRANSFER, OPEN_ORDERS)

    policy = models.ForeignKey(PolicyVersion, on_delete=models.PROTECT, related_name="limits")
    kind = models.CharField(
        max_length=10, choices=[(ORDER, "Order"), (TRANSFER, "Transfer"), (OPEN_ORDERS, "Open orders")]
    )
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    account = models.ForeignKey(Account, on_delete=models.PROTECT, null=True, related_name="+")
    most = amount_field()
    beyond = models.CharField(max_length=10, default=REFUSE, choices=list(BEYOND.items()))

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(most__gt=0), name="valuelimit_above_zero"),
            models.CheckConstraint(
                condition=~models.Q(kind="transfer") | models.Q(beyond=REFUSE), name="valuelimit_refuses_transfers"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} at most {self.most}"


class PolicyPayoutRule(Witnessed):
    """One rule for payouts of a version, as `payout_rules.PayoutRule` describes it; `place` is its number, from 1."""

    policy = models.ForeignKey(PolicyVersion, on_delete=models.PROTECT, related_name="payout_rules")
    place = models.PositiveSmallIntegerField()
    measure = models.CharField(max_length=20, choices=list(payout_rules.MEASURES.items()))
    most = amount_field(null=True)
    window_h = models.PositiveSmallIntegerField(default=0)
    opens = models.PositiveSmallIntegerField(null=True)
    closes = models.PositiveSmallIntegerField(null=True)
    approvals = models.PositiveSmallIntegerField(default=0)
    needs = models.JSONField(null=True)
    account = models.ForeignKey(Account, on_delete=models.PROTECT, null=True, related_name="+")
    currency = models.CharField(max_length=20, default="", blank=True)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    role = models.CharField(max_length=40, default="", blank=True)
    group = models.CharField(max_length=80, default="", blank=True, db_column="in_group")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["policy", "place"], name="policypayoutrule_one_per_place"),
            models.CheckConstraint(
                condition=models.Q(most__isnull=True) | models.Q(most__gte=0), name="policypayoutrule_not_below_zero"
            ),
            models.CheckConstraint(
                condition=models.Q(opens__isnull=True, closes__isnull=True)
                | models.Q(opens__isnull=False, closes__isnull=False),
                name="policypayoutrule_both_hours",
            ),
        ]

    def __str__(self) -> str:
        return f"payout rule {self.place}"

    @property
    def rule(self) -> PayoutRule:
        """The rule as a value."""
        return PayoutRule(
            measure=self.measure,
            most=self.most,
            window_h=self.window_h,
            hours=None if self.opens is None or self.closes is None else (self.opens, self.closes),
            approvals=self.approvals,
            needs=group_needs.needs_from_json(self.needs),
            account=self.account_id,
            currency=self.currency,
            person=self.person_id,
            role=self.role,
            group=self.group,
        )

    @classmethod
    def of(cls, rule: PayoutRule, *, policy: PolicyVersion, place: int) -> "PolicyPayoutRule":
        """The unsaved row of a rule in a version."""
        opens, closes = rule.hours or (None, None)
        return cls(
            policy=policy,
            place=place,
            measure=rule.measure,
            most=rule.most,
            window_h=rule.window_h,
            opens=opens,
            closes=closes,
            approvals=rule.approvals,
            needs=group_needs.needs_as_json(rule.needs),
            account_id=rule.account,
            currency=rule.currency,
            person_id=rule.person,
            role=rule.role,
            group=rule.group,
        )


class Freeze(Witnessed):
    """While one is active it stops what it covers (`freeze_scopes`). One person (or the desk itself) freezes, two thaw.

    Only the kind `account` has an account; the others hold at all of them. `currency` and `address` say what a freeze
    of that kind is of. `destination` is the form in which every spelling of the address is one
    (`addresses.destinations.identity`).
    """

    ACCOUNT, CURRENCY, DESTINATION, EVERYTHING = "account", "currency", "destination", "everything"
    KINDS: ClassVar = {
        ACCOUNT: "Account",
        CURRENCY: "Currency",
        DESTINATION: "Destination",
        EVERYTHING: "Everything",
    }

    kind = models.CharField(max_length=12, choices=list(KINDS.items()), default=ACCOUNT)
    account = models.ForeignKey(Account, on_delete=models.PROTECT, null=True, related_name="freezes")
    currency = models.CharField(max_length=20, default="", blank=True)
    address = models.CharField(max_length=256, default="", blank=True)
    destination = models.CharField(max_length=256, default="", blank=True)
    reason = models.CharField(max_length=500)
    frozen_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    frozen_at = models.DateTimeField()
    thawed_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["account"], condition=models.Q(thawed_at__isnull=True), name="freeze_one_active_per_account"
            ),
            models.UniqueConstraint(
                fields=["kind", "currency", "destination"],
                condition=models.Q(thawed_at__isnull=True, account__isnull=True),
                name="freeze_one_active_across_accounts",
            ),
            models.CheckConstraint(condition=_of_one_kind(), name="freeze_names_what_it_covers"),
        ]

    def __str__(self) -> str:
        return f"freeze {self.pk}"

    @property
    def scope(self) -> str:
        """The account's number as text, empty for the whole desk, by which roles, incidents and entries name it."""
        return "" if self.account_id is None else str(self.account_id)

    @property
    def covered(self) -> str:
        """What it covers, within a sentence: "the account", "BTC", "the destination 1abc", "everything"."""
        texts = {
            self.ACCOUNT: "the account",
            self.CURRENCY: self.currency,
            self.DESTINATION: f"the destination {self.address}",
            self.EVERYTHING: "everything",
        }
        return texts[self.kind]

    @property
    def title(self) -> str:
        """What is frozen, as the beginning of a sentence: "The account is frozen"."""
        return f"{self.covered[:1].upper()}{self.covered[1:]} is frozen"

    @property
    def stops(self) -> str:
        """What it stops, in words that begin with "no"."""
        every = "no payouts, transfers, orders or margin actions"
        of_currency = f"no payouts or transfers of {self.currency}, and no orders or margin actions in its markets"
        texts = {
            self.ACCOUNT: every,
            self.CURRENCY: f"{of_currency}, on any account",
            self.DESTINATION: "no payouts to it from any account",
            self.EVERYTHING: f"{every} on any account",
        }
        return texts[self.kind]

    @property
    def is_partial(self) -> bool:
        """Whether it leaves some movements of an account that it holds at."""
        return self.kind in (self.CURRENCY, self.DESTINATION)

    @property
    def release(self) -> str:
        """Why a payout was released: a freeze of its own account needs no name."""
        return f"Frozen: {self.reason}"[:500] if self.kind == self.ACCOUNT else self.sentence

    @property
    def sentence(self) -> str:
        """Why a request waits: what is frozen, and the reason; as long as the problem of a row may be."""
        return f"{self.title}: {self.reason}"[:500]


class ThawVote(Witnessed):
    """One person's agreement to end a freeze, given with a second factor."""

    freeze = models.ForeignKey(Freeze, on_delete=models.PROTECT, related_name="votes")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=500)
    confirmation = models.ForeignKey("desk.StepUp", on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["freeze", "person"], name="thawvote_one_per_person"),
            models.UniqueConstraint(
                fields=["confirmation"],
                condition=models.Q(confirmation__isnull=False),
                name="thawvote_one_per_second_factor",
            ),
        ]

    def __str__(self) -> str:
        return f"thaw vote {self.pk}"
