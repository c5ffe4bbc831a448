"""Leases: work that only one process may do at a time is done by the one that holds the lease in the database.

A holder renews its lease long before the end. A holder that can't renew it in time has lost it and must stop; another
process takes over once it has ended. Leases save work and keep streams apart; the safety of money doesn't rest on them.
"""

import os
import secrets
import socket
from datetime import datetime, timedelta

from django.db.models import Q

from desk import clock
from exchange_ops.shared.models import Lease

LASTS = timedelta(seconds=10)


def name_of_this_process() -> str:
    """A name for a holder that no other process has or had."""
    return f"{socket.gethostname()[:40]}:{os.getpid()}:{secrets.token_hex(4)}"


def hold(*, name: str, holder: str, now: datetime, lasts: timedelta = LASTS) -> bool:
    """Take or renew the lease for the longest time between two renewals; False when another process holds it."""
    Lease.objects.get_or_create(name=name)
    free = Q(holder=holder) | clock.ended("until", now=now, lasts=lasts)
    return bool(Lease.objects.filter(free, name=name).update(holder=holder, until=now + lasts))


def is_held(*, name: str, now: datetime, lasts: timedelta = LASTS) -> bool:
    """Whether any process holds the lease, which is held for `lasts` at a time."""
    not_set_back = Q(until__lte=now + lasts + clock.TOLERANCE)
    return Lease.objects.filter(not_set_back, name=name, until__gte=now).exists()


def release(*, name: str, holder: str) -> None:
    """Give the lease back, so that another process doesn't have to wait for its end."""
    Lease.objects.filter(name=name, holder=holder).update(holder="", until=None)
