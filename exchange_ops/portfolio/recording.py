"""One round over all accounts: daily prices, the snapshot of the hour, the history before it, flows and profits.

Each part continues from what the last round stored, so an interrupted round loses nothing. What stops one account
does not stop the others.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import structlog

from desk.live import announcements
from exchange_ops.client import ExchangeClient
from exchange_ops.market.models import Symbol
from exchange_ops.portfolio import amounts, effects, flows, prices, profits, snapshots
from exchange_ops.portfolio.models import Progress
from exchange_ops.shared import leases
from exchange_ops.shared.models import Account

LEASE, LEASE_LASTS = "portfolio", timedelta(minutes=10)
LONGEST_PROBLEM: Final = 300
_log = structlog.get_logger(__name__)


def topic(account: Account) -> str:
    """The topic that pages with these figures follow."""
    return f"portfolio:{account.pk}"


def record(*, now: datetime, open_client: Callable[[], ExchangeClient]) -> int:
    """Bring the figures of every account up to date, in one process at a time; returns how many accounts changed."""
    holder = leases.name_of_this_process()
    if not leases.hold(name=LEASE, holder=holder, now=now, lasts=LEASE_LASTS):
        return 0
    try:
        return sum(_record(account, now, open_client) for account in Account.objects.order_by("pk"))
    finally:
        leases.release(name=LEASE, holder=holder)


def _record(account: Account, now: datetime, open_client: Callable[[], ExchangeClient]) -> bool:
    progress, _ = Progress.objects.get_or_create(account=account)
    problem = _read_prices(account, progress, now, open_client)
    changed = snapshots.store_current(account=account, now=now) is not None
    if progress.prices_read_at == now:
        changed = bool(snapshots.revalue(account=account)) or changed
    if progress.rebuilt_at is None and progress.prices_read_at is not None:
        try:
            changed = bool(snapshots.rebuild(account=account, now=now)) or changed
            Progress.objects.filter(pk=progress.pk).update(rebuilt_at=now)
        except snapshots.CannotRebuild as reason:
            problem = problem or f"History not reconstructed yet: {reason}."
    changed = flows.update(account=account, progress=progress) or changed
    changed = bool(flows.price(account=account)) or changed
    # Profits are worth most with the prices of their days: they wait for the first reading of those.
    if progress.prices_read_at is not None:
        changed = profits.update(account=account, progress=progress, now=now) or changed
    if problem != progress.problem:
        Progress.objects.filter(pk=progress.pk).update(problem=problem[:LONGEST_PROBLEM])
    if changed:
        announcements.announce(topic(account))
    return changed


def _read_prices(account: Account, progress: Progress, now: datetime, open_client: Callable[[], ExchangeClient]) -> str:
    """Read daily candles when they are due; returns the problem of the last reading."""
    held = {code for by_currency in amounts.now([account]).values() for code in by_currency}
    codes, quote = held | set(effects.currencies(account)), account.quote_currency
    codes |= prices.additional() if codes else set()
    if not codes or not Symbol.objects.exists():
        return "No prices yet; balances can't be valued."
    if not prices.is_due(
        tried_at=progress.prices_tried_at, read_at=progress.prices_read_at, codes=codes, quote=quote, now=now
    ):
        # When the last reading succeeded, the noted problem is about something else.
        return "" if progress.prices_read_at == progress.prices_tried_at else progress.problem
    problem = prices.read(codes=codes, quote=quote, now=now, open_client=open_client)
    progress.prices_tried_at, progress.prices_read_at = now, progress.prices_read_at if problem else now
    Progress.objects.filter(pk=progress.pk).update(
        prices_tried_at=progress.prices_tried_at, prices_read_at=progress.prices_read_at
    )
    if problem:
        _log.warning("portfolio.prices", account=account.pk, reason=problem)
    return problem
