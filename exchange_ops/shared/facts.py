"""Dated answers to questions that the exchange's specification leaves open; the newest of each name counts."""

from datetime import datetime
from typing import Any

from exchange_ops.shared.models import Account, Fact

# What happens to an undecided hold when its hour is over: the status that the exchange's ledger shows then.
HOLD_END, LAPSES = "probe.hold_end", "failed"


def note(*, account: Account, name: str, value: Any, now: datetime) -> Fact:
    """Store an answer as of now. `value` is plain JSON, with amounts as text."""
    return Fact.objects.create(account=account, name=name, value=value, noted_at=now)


def newest(*, account: Account, name: str) -> Fact | None:
    """The newest answer of that name: by arrival, because a clock that was set back dates it too early."""
    return Fact.objects.filter(account=account, name=name).order_by("-id").first()


def newest_at(*, account: Account, name: str, at: datetime) -> Fact | None:
    """The newest answer of that name that had been noted by a moment."""
    return Fact.objects.filter(account=account, name=name, noted_at__lte=at).order_by("-id").first()


def all_newest(*, account: Account, prefix: str) -> list[Fact]:
    """The newest answer of each name with this prefix, sorted by name."""
    rows = Fact.objects.filter(account=account, name__startswith=prefix).order_by("id")
    newest_of = {row.name: row for row in rows}
    return [newest_of[name] for name in sorted(newest_of)]


def holds_lapse(account: Account) -> bool:
    """Whether an undecided hold was seen to end unpaid; without that proof, approvals come before any hold."""
    fact = newest(account=account, name=HOLD_END)
    return fact is not None and fact.value == LAPSES
