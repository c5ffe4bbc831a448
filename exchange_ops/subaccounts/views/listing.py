"""The sub-accounts: what is requested of each, what the exchange shows, and the difference in words."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Max
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import posted, requires
from exchange_ops.subaccounts import account_status, readings, states
from exchange_ops.subaccounts.account_status import Difference
from exchange_ops.subaccounts.models import SubAccount, SubAccountAction, SubAccountReading

PARTS = {
    "reading": "exchange_ops/subaccounts/_reading.html",
    "subs": "exchange_ops/subaccounts/_rows.html",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One sub-account of the list, with its difference and its latest action."""

    sub: SubAccount
    difference: Difference
    latest: SubAccountAction | None


@require_safe
@requires(rules.may_see)
def subaccounts(request: DeskRequest) -> HttpResponse:
    """The list, or one of its two parts."""
    now, account = clock.now(), accounts.current(request)
    rows = lines(account)
    context: dict[str, Any] = {
        "now": now,
        "account": account,
        "lines": rows,
        "reading": SubAccountReading.objects.filter(account=account).first(),
        "drawn_for": account_status.digest_of("list", [line.sub for line in rows])[:16],
        "differing": sum(line.difference.tone == "bad" for line in rows),
        "may_act": rules.may_keep_subaccounts(request.user),
        "may_reread": account is not None and rules.may_reread_subaccounts(request.user),
    }
    return show(request, "exchange_ops/subaccounts.html", context, parts=PARTS)


@posted(rules.may_reread_subaccounts)
def reread(request: DeskRequest) -> HttpResponse:
    """Have the exchange asked again, as soon as a worker is free."""
    account = accounts.required(request)
    readings.ask(account=account, person=request.user, now=clock.now())
    number = request.POST.get("back", "")
    is_number = number.isascii() and number.isdigit() and len(number) < 19
    named = f"Sub-account {number}" if is_number else f"Sub-accounts of {account.name}"
    messages.info(request, f"{named}: refreshing from the exchange. Figures update when it responds.")
    return redirect("subaccount", int(number)) if is_number else redirect("subaccounts")


def lines(account: Account | None) -> list[Line]:
    """Every sub-account by its id, in three queries however many there are."""
    subs = list(SubAccount.objects.filter(account=account).order_by("exchange_id"))
    of_account = SubAccountAction.objects.filter(sub_account__account=account)
    newest = of_account.order_by().values("sub_account").annotate(newest=Max("pk")).values("newest")
    last = {action.sub_account_id: action for action in SubAccountAction.objects.filter(pk__in=newest)}
    under_way: dict[int, list[SubAccountAction]] = {}
    for action in of_account.filter(state__in=states.OPEN_STATES):
        under_way.setdefault(action.sub_account_id, []).append(action)
    return [Line(sub, account_status.difference(sub, under_way.get(sub.pk, ())), last.get(sub.pk)) for sub in subs]
