"""Who can still give what approval groups have to give for a request."""

from typing import Any, Final

from desk import models
from desk.people import roles, scopes
from exchange_ops.policy.groups.needs import Tally

_MOST_NAMED: Final = 5


def waits_for(row: Any, tally: Tally) -> str:
    """What a request waits for of groups, and who can give it, in sentences; empty where no group is missing.

    The row has an `initiator` and a `scope`, which is the account's number as text.
    """
    return f"{tally.waits_for}. {_who(able(row, tally))}" if tally.missing else ""


def able(row: Any, tally: Tally) -> list[str]:
    """The names of the people whose approval would meet a need now, in order."""
    members = {member for need in tally.needs for member in need.members if tally.for_groups(member)}
    people = models.Person.objects.filter(scopes.holding(roles.TREASURY, row.scope), pk__in=members)
    return [str(person) for person in people.exclude(pk=row.initiator_id).order_by("username").distinct()]


def _who(names: list[str]) -> str:
    if not names:
        return "Nobody can give it now: reject the request, or change the approval groups."
    more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    *first, last = [*names[:_MOST_NAMED], *more]
    return f"It can come from {', '.join(first)} or {last}." if first else f"It can come from {last}."
