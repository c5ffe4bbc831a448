"""The inbox: mine to decide, waiting for others, closing soon, done. Each is decided on its own page, never in bulk."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from desk import clock
from desk.machines import table as machine_table
from desk.models import Person
from desk.people import roles
from desk.views.rendering import show
from exchange_ops.shared import rules
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires
from exchange_ops.transfers import approvals as transfer_approvals
from exchange_ops.transfers.models import Transfer
from exchange_ops.withdrawals import queries as withdrawal_endings
from exchange_ops.withdrawals.decisions import approvals as domain
from exchange_ops.withdrawals.decisions import open_holds
from exchange_ops.withdrawals.models import Approval, Withdrawal
from exchange_ops.withdrawals.steps import settlement
from exchange_ops.withdrawals.views import decisions

SOON = timedelta(minutes=20)
MOST_ROWS = 100
MOST_ALARMS = 20


@require_safe
@requires(rules.may_see)
def approvals(request: HttpRequest) -> HttpResponse:
    """One of the four lists, with the size of each of them."""
    now, account = clock.now(), accounts.current()
    exchange_now = accounts.exchange_now(account, now)
    lists, transfers = _lists(request.user, exchange_now), _transfers(request.user)
    name = request.GET.get("list", "")
    chosen = name if name in lists else ("mine" if request.user.has_role(roles.TREASURY) else "others")
    context = {
        "now": now,
        "exchange_now": exchange_now,
        "chosen": chosen,
        "tabs": [
            {"name": key, "label": label, "count": rows.count() + transfers[key].count()}
            for key, (label, rows) in lists.items()
            if key != "done"
        ],
        "rows": _progressed(lists[chosen][1]),
        "transfers": _with_counts(transfers[chosen])[:MOST_ROWS],
        "empty": _EMPTY[chosen],
        "alarms": _alarms(now),
    }
    return show(request, "exchange_ops/approvals.html", context, parts={"inbox": "exchange_ops/approvals/_inbox.html"})


@require_safe
@requires(rules.may_see)
def count(request: HttpRequest) -> HttpResponse:
    """How many wait for this person, for the navigation."""
    person = request.user
    waiting = domain.waiting_for(person).count() + transfer_approvals.waiting_for(person).count()
    counted = {
        "name": "approvals",
        "count": waiting + len(open_holds.waiting_for(person)),
        "url": request.path,
        "topics": "withdrawals transfers approvals",
    }
    return show(request, "components/count.html", {"counted": counted})


_EMPTY = {
    "mine": "Nothing waits for your decision. A request appears here as soon as the money is reserved, "
    "or when the rules ask for approvals before that.",
    "others": "Nothing waits for somebody else.",
    "soon": f"Nothing closes within {SOON.seconds // 60} minutes.",
    "done": "Nothing was decided yet.",
}


def _lists(person: Person, exchange_now: datetime) -> dict[str, tuple[str, QuerySet[Withdrawal]]]:
    soon = domain.undecided().filter(approve_until__lt=exchange_now + SOON)
    done = (
        Withdrawal.objects.exclude(decision=machine_table.NONE)
        .select_related("account", "initiator")
        .order_by(F("decided_at").desc())
    )
    return {
        "mine": ("Needs your approval", domain.waiting_for(person)),
        "others": ("Waiting for others", domain.waiting_for_others(person)),
        "soon": ("Closing soon", soon),
        "done": ("Decided", done),
    }


def _transfers(person: Person) -> dict[str, QuerySet[Transfer]]:
    """The same lists of transfers to others; no hour runs for them, so none of them closes soon."""
    decided = Transfer.objects.filter(approvals__stage="review", decided_at__isnull=False).distinct()
    return {
        "mine": transfer_approvals.waiting_for(person),
        "others": transfer_approvals.waiting_for_others(person),
        "soon": Transfer.objects.none(),
        "done": decided.select_related("initiator").order_by(F("decided_at").desc()),
    }


def _alarms(now: datetime) -> list[dict[str, Any]]:
    """What people have to know before they decide on anything else: each with its sentence."""
    held = [{"row": row, "sentence": open_holds.sentence(row)} for row in open_holds.of_closed()[:MOST_ALARMS]]
    late = settlement.overdue(now=now)[:MOST_ALARMS]
    return held + [{"row": row, "sentence": settlement.overdue_sentence(row, now=now)} for row in late]


def _progressed(rows: QuerySet[Withdrawal]) -> list[Withdrawal]:
    """The rows with how they ended and how far the approvals of each stage are."""
    said = Q(approvals__digest=F("digest"), approvals__verdict="approve")
    counts = {
        name: Count("approvals__person", filter=said & Q(approvals__stage=stage), distinct=True)
        for name, stage in (("reviewed", Approval.REVIEW), ("released", Approval.RELEASE))
    }
    found = withdrawal_endings.with_ends(rows.select_related("decided_by")).annotate(**counts)[:MOST_ROWS]
    for row in found:
        row.progress = decisions.progress(row, reviewed=row.reviewed, released=row.released)
    return list(found)


def _with_counts(rows: QuerySet[Any]) -> Any:
    """With how many people approved the digest that is on the row now."""
    of_this = Q(approvals__digest=F("digest"), approvals__verdict="approve")
    approved_count = Count("approvals__person", filter=of_this, distinct=True)
    return rows.select_related("decided_by").annotate(approved_count=approved_count)
