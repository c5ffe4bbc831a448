"""The event in the audit trail that stands before every file of this room."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from desk.audit import trail
from desk.web.requests import DeskRequest
from exchange_ops.shared.models import Account
from exchange_ops.shared.periods import Period


def exported(
    request: DeskRequest,
    name: str,
    *,
    accounts: Sequence[Account],
    period: Period,
    now: datetime,
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Record that the person exported `name` of these accounts for the period, with what else is said of it."""
    with transaction.atomic():
        trail.record(
            actor=request.user,
            action=f"{name}.exported",
            subject=name,
            before={},
            after={
                "accounts": [each.name for each in accounts],
                "days": f"{period.first} to {period.last}",
                **(facts or {}),
            },
            now=now,
            session_key=request.session.session_key or "",
        )
