"""Slows down guessing of passwords and codes at sign-in, without ever locking out the person whose name is used.

Every try takes from several budgets before it is checked, so that concurrent tries count as well; a right one gives
back what it took:

- of the address: ten failures a minute, whatever the names;
- of the name at this address: a pause that doubles after three failures, to five minutes at most;
- of the name everywhere: ten a minute, so that a thousand addresses guess no faster than one.

A device on which this person has signed in completely before carries a signed cookie that says so. Its tries have a
budget of their own and take from none of the others: an attacker who floods a name, an address or both stays outside,
and the owner gets in. Passwords and second factors have separate budgets. A budget is one row, however many tries;
expired rows are deleted, and there are never more than `MOST_BUDGETS`.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import TYPE_CHECKING, Any

from allauth.core.internal.ratelimit import truncate_ip
from django.conf import settings
from django.core import signing
from django.db import connection, transaction
from django.utils.crypto import get_random_string, salted_hmac

from desk import clock, models

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    from desk.models import Person

PASSWORD, SECOND_FACTOR = "password", "second-factor"
REMEMBERED = timedelta(minutes=15)
WINDOW = timedelta(minutes=1)
MOST_IN_A_WINDOW = 10
FREE_TRIES = 3
LONGEST_PAUSE_S = 300
MOST_BUDGETS = 20_000
DEVICE_DAYS = 90
_DEVICE_SALT = "desk.device"


@dataclass(frozen=True, slots=True)
class Budget:
    """One budget: the name of its row, and whether its pause grows or only its rate is limited."""

    name: str
    grows: bool = False


def budgets(*, what: str, name: str, address: str, device: str) -> list[Budget]:
    """The budgets that one try takes from. `device` names a known device of exactly this person, or is empty."""
    who = unicodedata.normalize("NFKC", name).casefold()[:150]
    if device:
        return [Budget(_digest(what, "device", device, who), grows=True)]
    near = truncate_ip(address)
    return [
        Budget(_digest(what, "address", near)),
        Budget(_digest(what, "name-at-address", near, who), grows=True),
        # Only a person who knows the password gets here: guessing codes from many addresses slows down as well.
        Budget(_digest(what, "name", who), grows=what == SECOND_FACTOR),
    ]


def spend_try(budgets: Sequence[Budget], *, now: datetime) -> int:
    """Take one try from each budget and answer 0; or take none, and answer the seconds to wait."""
    names = [budget.name for budget in budgets]
    if wait := _longest(budgets, models.Tries.objects.filter(budget__in=names), now):
        return wait  # most of a flood ends here, without a write
    with transaction.atomic():
        _make_room(names, now)
        for name in names:
            models.Tries.objects.get_or_create(budget=name, defaults={"last_at": now})
        rows = _locked(names)
        if wait := _longest(budgets, rows, now):
            return wait
        for row in rows:
            _count(row, now)
    return 0


@transaction.atomic
def give_back(budgets: Sequence[Budget]) -> None:
    """After a right try: reset the budgets whose pause grows, and take this one try back from the others."""
    models.Tries.objects.filter(budget__in=[budget.name for budget in budgets if budget.grows]).delete()
    for row in _locked([budget.name for budget in budgets if not budget.grows]):
        models.Tries.objects.filter(pk=row.pk).update(failures=max(row.failures - 1, 0), recent=row.recent[:-1])


# Devices --------------------------------------------------------------------------------------------------------------


def device_of(request: "HttpRequest", name: str) -> str:
    """The device of this request if exactly this person has signed in on it before, else an empty text."""
    try:
        content = signing.loads(
            request.COOKIES.get(settings.DEVICE_COOKIE_NAME, ""),
            salt=_DEVICE_SALT,
            max_age=timedelta(days=DEVICE_DAYS),
        )
    except signing.BadSignature:
        return ""
    person = models.Person.objects.filter(pk=content["person"], username__iexact=name).first()
    return str(content["device"]) if person is not None else ""


def remember_device(request: "HttpRequest", response: "HttpResponseBase", person: "Person") -> None:
    """Remember this browser as one on which the person signed in completely. That alone opens nothing."""
    device = device_of(request, person.get_username()) or get_random_string(22)
    response.set_cookie(
        settings.DEVICE_COOKIE_NAME,
        signing.dumps({"person": person.pk, "device": device}, salt=_DEVICE_SALT),
        max_age=timedelta(days=DEVICE_DAYS),
        secure=settings.SECURE_COOKIES,
        httponly=True,
        samesite="Strict",
    )


# Rows -----------------------------------------------------------------------------------------------------------------


def _digest(*parts: str) -> str:
    return salted_hmac("desk.tries", "\0".join(parts), algorithm="sha256").hexdigest()


def _longest(budgets: Sequence[Budget], rows: Any, now: datetime) -> int:
    grows = {budget.name for budget in budgets if budget.grows}
    return max((_wait(row, now, grows=row.budget in grows) for row in rows), default=0)


def _locked(names: Sequence[str]) -> list[models.Tries]:
    """These rows, locked in one order for everybody until the transaction ends."""
    rows = models.Tries.objects.filter(budget__in=names).order_by("budget")
    return list(rows.select_for_update() if connection.features.has_select_for_update else rows)


def _milliseconds(when: datetime) -> int:
    return int(when.timestamp() * 1000)


def _wait(row: models.Tries, now: datetime, *, grows: bool) -> int:
    """Seconds until this budget allows another try. Tries from before the clock fell back delay none."""
    if clock.is_future(row.last_at, now):
        return 0
    waits = [0.0]
    if len(row.recent) == MOST_IN_A_WINDOW:
        waits.append((row.recent[0] - _milliseconds(now - WINDOW)) / 1000)
    if grows and row.failures >= FREE_TRIES and row.last_at + REMEMBERED > now:
        pause = min(2 ** (row.failures - FREE_TRIES + 1), LONGEST_PAUSE_S)
        waits.append(pause - (now - row.last_at).total_seconds())
    return max(0, ceil(max(waits)))


def _count(row: models.Tries, now: datetime) -> None:
    """Count one more try on a locked row."""
    is_from_before = clock.is_future(row.last_at, now)
    is_over = is_from_before or row.last_at + REMEMBERED <= now
    recent = [] if is_from_before else row.recent
    models.Tries.objects.filter(pk=row.pk).update(
        failures=1 if is_over else min(row.failures, 60) + 1,
        recent=[*recent, _milliseconds(now)][-MOST_IN_A_WINDOW:],
        last_at=now,
    )


def _make_room(names: list[str], now: datetime) -> None:
    """Delete expired rows; when strangers have filled the table, also the rows that were tried longest ago."""
    models.Tries.objects.filter(last_at__lte=now - REMEMBERED).exclude(budget__in=names).delete()
    over = models.Tries.objects.count() + len(names) - MOST_BUDGETS
    if over > 0:
        oldest = models.Tries.objects.exclude(budget__in=names).order_by("last_at").values_list("pk", flat=True)
        models.Tries.objects.filter(pk__in=list(oldest[:over])).delete()
