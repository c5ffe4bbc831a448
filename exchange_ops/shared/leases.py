"""Work that only one process may do at a time, decided in the database: whoever holds the lease does it.

A lease is renewed long before it ends. A holder that can't renew it in time has lost it and must stop, and another
process takes it over as soon as it ended. It saves work and keeps streams apart; money is kept safe without it.
"""

import os
import secrets
import socket
from datetime import datetime, timedelta

from django.db.models import Q

from exchange_ops.shared.models import Lease

LASTS = timedelta(seconds=10)


def name_of_this_process() -> str:
    """A name for a holder that no other process, earlier or elsewhere, has."""
    return f"{socket.gethostname()[:40]}:{os.getpid()}:{secrets.token_hex(4)}"


def hold(*, name: str, holder: str, now: datetime, lasts: timedelta = LASTS) -> bool:
    """Take the lease, or renew it, for as long as the work may take between two renewals; False when another has it."""
    Lease.objects.get_or_create(name=name)
    free = Q(holder=holder) | Q(until=None) | Q(until__lt=now)
    return bool(Lease.objects.filter(free, name=name).update(holder=holder, until=now + lasts))


def is_held(*, name: str, now: datetime) -> bool:
    """Whether anybody has the lease."""
    return Lease.objects.filter(name=name, until__gte=now).exists()


def release(*, name: str, holder: str) -> None:
    """Give the lease back, so that another process need not wait for its end."""
    Lease.objects.filter(name=name, holder=holder).update(holder="", until=None)
