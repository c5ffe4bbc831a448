"""What workers are woken for about the whole desk: incidents, messages, checks, and what is no longer needed."""

from desk import clock
from desk.incidents import review as incidents
from desk.machines.lanes import LANES, Job
from desk.notifications import delivering, outgoing
from desk.notifications import finding as notifications
from desk.restores import signs as restores
from desk.rows import retention
from desk.staff import changes, covers
from desk.work import CHAIN, Work
from exchange_ops.keys import store as keys
from exchange_ops.keys.rounds import ERRANDS, Round, followed
from exchange_ops.policy_changes import workflow as policy_changes
from exchange_ops.reconciliation import scheduled_checks

WORK = Work(queue="money")
REVIEW_S = 3


@WORK.task("exchange_ops.review_incidents", every_s=REVIEW_S)
@followed(ERRANDS, order=90)
def review_incidents(at: Round) -> None:
    """Bring the incidents in line with what is wrong now, and tell whoever is to be told."""
    restores.check(now=at.now())
    incidents.review(now=at.now())
    changes.expire(at.now())
    covers.end_due(at.now())
    policy_changes.review(now=at.now())
    notifications.notify_due(now=at.now())


@WORK.task(outgoing.TASK, every_s=5, queue=CHAIN)
def deliver(_: int = 0) -> None:
    """Send the messages that are due; where mail or a webhook hangs, no payout waits for it."""
    # However many wake-up calls come, one sweep runs and one waits: no call keeps the chain's tip or a proof waiting.
    LANES.put([Job("deliveries", "sweep", _deliver)])


def _deliver() -> int:
    return delivering.sweep(now=clock.now())


@WORK.task("exchange_ops.run_checks", every_s=60, expires_s=50, queue=CHAIN, time_limit_s=900)
def run_checks() -> None:
    """Reconcile and check the audit trail, when that is due."""
    LANES.put([Job("checks", "run", _run_checks, 900)])


def _run_checks() -> int:
    scheduled_checks.run_due(now=clock.now(), client_for=keys.client_for)
    return 1


@WORK.task("exchange_ops.purge", every_s=600, expires_s=300)
def purge() -> None:
    """Remove what the settings no longer keep of market copies and answered questions."""
    retention.purge(now=clock.now())
