"""The state of the desk: readiness, streams, clocks, the age of the copies, and what waits for a worker."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max, Min
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from desk import clock
from desk.models import Person
from desk.templatetags.desk import span
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.ledger.models import Balance, LedgerEntry, Watermark
from exchange_ops.market.models import Currency, Symbol, Ticker
from exchange_ops.pages import loops
from exchange_ops.shared import clocks, heartbeats, rules
from exchange_ops.shared.declarations.ages import BEAT_AGE
from exchange_ops.shared.models import Account, FollowerState
from exchange_ops.shared.views import accounts, wellbeing
from exchange_ops.shared.views.access import requires
from exchange_ops.withdrawals import workflow

MOST_DUE = 20
SHOWN_IN_MS = 10_000
PARTS = {"followers": "exchange_ops/system/_followers.html", "now": "exchange_ops/system/_now.html"}


@require_safe
@requires(rules.may_see)
def system(request: DeskRequest) -> HttpResponse:
    """Everything on one page; the followers reload more often than the rest."""
    now, account = clock.now(), accounts.current(request)
    target = request.htmx.target if request.htmx else None
    context: dict[str, Any] = {"now": now, "account": account}
    if target != "now":
        context |= _followers(request.user, now)
    if target != "followers":
        context |= _state(account, request.user, now)
    return show(request, "exchange_ops/system.html", context, parts=PARTS)


def _followers(person: Person, now: datetime) -> dict[str, Any]:
    states = FollowerState.objects.select_related("account").order_by("pk")
    rows = [row for row in states if row.account_id is None or rules.may_see(person, row.account_id)]
    return {
        "followers": loops.followers(rows, now),
        "rounds": loops.rounds(rows, now),
        "following": any(row.name == heartbeats.SWEEPER and _is_recent(row.beat_at, now) for row in rows),
    }


def _is_recent(moment: datetime | None, now: datetime) -> bool:
    return clock.is_fresh(moment, now, within=BEAT_AGE)


def _state(account: Account | None, person: Person, now: datetime) -> dict[str, Any]:
    return {
        "checks": wellbeing.health_for(person),
        "copies": _copies(account),
        "watermarks": Watermark.objects.filter(account=account).order_by("name"),
        "due": workflow.due(account=account, now=now)[:MOST_DUE] if account else [],
        **_clock(account, now),
    }


def _clock(account: Account | None, now: datetime) -> dict[str, Any]:
    if account is None:
        return {}
    reading = clocks.newest_first(account=account).first()
    return {
        "reading": reading,
        "skew": _skew(reading.skew_ms) if reading else "",
        "exchange_now": clocks.exchange_now(account=account, now=now),
        "clock_problem": clocks.problem(account=account),
    }


def _skew(skew_ms: int) -> str:
    """The difference between the exchange's clock and ours, in words."""
    length = f"{abs(skew_ms)} ms" if abs(skew_ms) < SHOWN_IN_MS else span(timedelta(milliseconds=abs(skew_ms)))
    return f"{length} {'ahead' if skew_ms >= 0 else 'behind'}"


def _copies(account: Account | None) -> list[dict[str, Any]]:
    """The age of each copied table: its row count, the oldest and the newest reading."""
    tables = (
        ("Currencies", Currency.objects.all(), "read_at"),
        ("Symbols", Symbol.objects.all(), "read_at"),
        ("Prices", Ticker.objects.all(), "read_at"),
        ("Balances", Balance.objects.filter(account=account), "read_at"),
        ("Ledger entries", LedgerEntry.objects.filter(account=account), "seen_at"),
    )
    copies = []
    for name, rows, column in tables:
        ages = rows.aggregate(oldest=Min(column), newest=Max(column))
        copies.append({"name": name, "rows": rows.count(), **ages})
    return copies
