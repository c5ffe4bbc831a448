"""Dated answers to what the exchange's specification leaves open; the newest of a name counts."""

from datetime import datetime
from typing import Any

from exchange_ops.shared.models import Account, Fact

# What becomes of a hold that nobody decided on when its hour is over: the status the exchange's ledger then shows.
HOLD_END, LAPSES = "probe.hold_end", "failed"


def note(*, account: Account, name: str, value: Any, now: datetime) -> Fact:
    """Keep an answer as of now. `value` is plain JSON; amounts are texts."""
    return Fact.objects.create(account=account, name=name, value=value, noted_at=now)


def newest(*, account: Account, name: str) -> Fact | None:
    """The newest answer of that name."""
    return Fact.objects.filter(account=account, name=name).order_by("-noted_at", "-id").first()


def all_newest(*, account: Account, prefix: str) -> list[Fact]:
    """The newest answer of each name that begins so, by name."""
    rows = Fact.objects.filter(account=account, name__startswith=prefix).order_by("noted_at", "id")
    newest_of = {row.name: row for row in rows}
    return [newest_of[name] for name in sorted(newest_of)]


def holds_lapse(account: Account) -> bool:
    """Whether a hold that nobody decided on was seen to end unpaid: without that, approvals come before any hold."""
    fact = newest(account=account, name=HOLD_END)
    return fact is not None and fact.value == LAPSES
