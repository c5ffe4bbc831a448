"""Which account a page is about, and its clock.

A desk with one account shows that one. A desk with several names the account in the path: /accounts/2/withdrawals/ is
/withdrawals/ of account 2, and every link, form and live part of that page keeps the prefix, so two tabs can't be mixed
up. Without it a page shows all accounts if it can, and else redirects to the account that was read last. "All" are the
accounts where the reader holds a role; a reader with a role at one account has a desk with one account.
"""

import re
from datetime import datetime
from typing import Any, Final

from django.db.models import QuerySet
from django.http import Http404, HttpRequest

from desk.models import Person
from exchange_ops.shared import clocks, rules
from exchange_ops.shared.models import Account

PATH: Final = re.compile(r"/accounts/([1-9][0-9]{0,17})(/.*|)", re.ASCII | re.DOTALL)
LAST: Final = "account"  # the session's key for the account that was read last


class ChooseAccount(Http404):
    """There are several accounts, and the page needs one of them."""

    message = "This desk has several accounts: specify one in the path, as in /accounts/1/api/v1/."


def number(request: Any) -> int | None:
    """The account number in the path; None without one."""
    return getattr(request, "account_number", None)


def chosen(request: Any) -> Account | None:
    """The account in the path; None without one. Raises `Http404` when it does not exist."""
    account_number = number(request)
    if account_number is None:
        return None
    account = Account.objects.filter(pk=account_number).first()
    if account is None:
        raise Http404("Account not found.")
    return account


def of_reader(request: Any) -> QuerySet[Account]:
    """The accounts where the reader holds a role, in order; all for somebody signed out, who is redirected later."""
    rows = Account.objects.order_by("pk")
    return rules.seen_by(request.user, rows, account="pk") if isinstance(request.user, Person) else rows


def in_view(request: Any) -> list[Account]:
    """The accounts on a page that can show several: the one in the path, else all of the reader's."""
    only = chosen(request)
    return [only] if only else list(of_reader(request))


def current(request: Any) -> Account | None:
    """The account that the page is about; None before there is one.

    Raises `ChooseAccount` when there are several and the path names none.
    """
    accounts = in_view(request)
    if len(accounts) > 1:
        raise ChooseAccount
    return accounts[0] if accounts else None


def required(request: Any) -> Account:
    """The account that the page is about. Raises `Http404` while there is none."""
    account = current(request)
    if account is None:
        raise Http404("No account is set up yet.")
    return account


def exchange_now(account: Account | None, now: datetime) -> datetime:
    """The time that deadlines at the exchange go by; our own while there is no account."""
    return now if account is None else clocks.exchange_now(account=account, now=now)


def preferred(request: HttpRequest) -> int:
    """The account for a page that needs one: the one read last, else the first."""
    numbers = list(of_reader(request).values_list("pk", flat=True))
    last = request.session.get(LAST)
    return last if last in numbers else numbers[0]
