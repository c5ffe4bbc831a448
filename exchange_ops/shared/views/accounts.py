"""Which account the pages are about, and its clock."""

from datetime import datetime

from django.http import Http404

from exchange_ops.shared import clocks
from exchange_ops.shared.models import Account


def current() -> Account | None:
    """The account of this desk: the first one there is. Nothing before the first key was stored."""
    return Account.objects.order_by("pk").first()


def exchange_now(account: Account | None, now: datetime) -> datetime:
    """The time by which deadlines at the exchange are kept, or ours while there is no account."""
    return now if account is None else clocks.exchange_now(account=account, now=now)


def required() -> Account:
    """The account, or a 404 while there is none to act on."""
    account = current()
    if account is None:
        raise Http404("No account was set up yet.")
    return account
