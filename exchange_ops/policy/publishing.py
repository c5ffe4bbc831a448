"""Publishing a set of rules: the rows of one version. Who may, and when, is for the rooms that call it."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction

from exchange_ops.policy.groups import needs as group_needs
from exchange_ops.policy.models import PolicyPayoutRule, PolicyVersion, QuorumTier, ValueLimit
from exchange_ops.policy.ruleset import Rules

if TYPE_CHECKING:
    from desk.models import Person


@transaction.atomic
def publish(rules: Rules, *, number: int, note: str, publisher: "Person | None", now: datetime) -> PolicyVersion:
    """Write these rules as version `number`, in force from now on when it is the highest."""
    version = PolicyVersion.objects.create(
        number=number,
        note=note,
        value_max_age_s=rules.value_max_age_s,
        price_distance=rules.price_distance,
        price_beyond=rules.price_beyond,
        fee_factor=rules.fee_margin.factor,
        fee_floor=rules.fee_margin.floor,
        groups=group_needs.groups_as_json(rules.groups),
        published_by=publisher,
        published_at=now,
    )
    for tier in rules.tiers:
        QuorumTier.objects.create(
            policy=version,
            account_id=tier.account,
            currency=rules.currency,
            up_to=tier.up_to,
            approvals=tier.approvals,
            needs=group_needs.needs_as_json(tier.needs),
            mode=tier.mode,
        )
    for limit in rules.limits:
        ValueLimit.objects.create(
            policy=version,
            kind=limit.kind,
            most=limit.most,
            person_id=limit.person,
            account_id=limit.account,
            beyond=limit.beyond,
        )
    for place, rule in enumerate(rules.payouts, 1):
        PolicyPayoutRule.of(rule, policy=version, place=place).save()
    return version
