"""Approval groups for tests: a version of the rules in which the second tier needs an approval of each group."""

from collections.abc import Mapping
from typing import Any

from desk import clock
from desk.models import Person
from exchange_ops.policy import quorum
from exchange_ops.policy.groups.needs import Needs
from exchange_ops.policy.models import PolicyVersion, QuorumTier

BOTH: Needs = (("Board", 1), ("Finance", 1))


def publish(groups: Mapping[str, list[Person]], *, needs: Needs = BOTH, approvals: int = 2, **tier: Any) -> None:
    """The first rules, but every payout needs these approvals of these groups."""
    current = quorum.current()
    version = PolicyVersion.objects.create(
        number=current.number + 1 if current else 1,
        groups=[[name, sorted(person.pk for person in members)] for name, members in sorted(groups.items())],
        published_at=clock.now(),
    )
    QuorumTier.objects.create(
        policy=version,
        approvals=approvals,
        needs=[list(need) for need in needs],
        **{"up_to": None, "mode": "hold_then_approve", **tier},
    )
