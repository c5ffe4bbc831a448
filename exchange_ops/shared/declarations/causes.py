"""What the rooms' kinds of incidents share: who acts on them, and how their causes are read from the checks."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from desk import rooms
from desk.incidents.kinds import Cause
from desk.people import roles
from desk.templatetags.desk import kept_amount
from exchange_ops.shared.models import Account

WORKERS: Final = (roles.OPERATOR, roles.TREASURY, roles.ADMIN)
TRADERS: Final = (roles.OPERATOR, roles.TREASURY)
DECIDERS: Final = (roles.TREASURY, roles.ADMIN)
KEEPERS: Final = (roles.ADMIN, roles.AUDITOR)
AFTER_A_START: Final = timedelta(seconds=45)  # the slowest reading has come round twice
BY_TREASURY: Final = "Resolves once two treasurers close the case on its page."


def unwell(kind: str) -> Callable[[datetime, str], Iterator[Cause]]:
    """The causes from the failing readiness checks of this kind; none before there is an account."""

    def causes(now: datetime, only: str) -> Iterator[Cause]:
        if not Account.objects.exists():
            return
        for name, check in rooms.checks().items():
            if check.incident == kind and not (answer := check.ask()).ok:
                yield Cause(name, answer.sentence, "system")

    return causes


def figure(value: Decimal | None) -> str:
    """A figure without a unit for sentences; None counts as zero."""
    return kept_amount(value or Decimal(0), "").rstrip()
