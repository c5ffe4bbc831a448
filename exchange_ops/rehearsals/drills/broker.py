"""The drill in which the rehearsal's broker is dead: messages between its processes get lost, rows don't."""

from datetime import timedelta
from typing import Final

from django.conf import settings

from desk import health
from desk.processes import stops
from exchange_ops.rehearsals.drills import payments
from exchange_ops.rehearsals.drills.scene import CannotDrill, Drill, Scene
from exchange_ops.shared import alarms
from exchange_ops.withdrawals.models import Withdrawal, WithdrawalEvent
from exchange_ops.withdrawals.room import checks
from exchange_ops.withdrawals.states import PAID

_BROKER: Final = "redis"  # its name among the processes of `manage.py up`
_LASTS: Final = timedelta(minutes=5)
_STOPS_WITHIN_S: Final = 15.0


def _kill(scene: Scene) -> None:
    if not health.broker().ok:
        raise CannotDrill("The rehearsal's broker is not responding now. Try again in a minute. Nothing was done.")
    # The supervisor starts it again even if this process is killed.
    stops.stop(settings.DATA_DIR, _BROKER, seconds=_LASTS.total_seconds())
    if not scene.wait_until(lambda: not health.broker().ok, seconds=_STOPS_WITHIN_S):
        stops.go_on(settings.DATA_DIR)
        raise CannotDrill(
            "The broker was not stopped: the rehearsal in this folder was started by another version, or not by "
            "manage.py rehearse. Start it again. Nothing was done."
        )


def _start_again(scene: Scene) -> None:
    stops.go_on(settings.DATA_DIR)


def _payouts(scene: Scene) -> list[str]:
    events = WithdrawalEvent.objects.filter(at__gte=scene.began)
    requested = Withdrawal.objects.filter(created_at__gte=scene.began).count()
    paid = events.filter(to_state__in=PAID).values("withdrawal").distinct().count()
    return [f"Payouts during the drill: {requested} requested, {paid} paid.", checks.payouts().sentence]


DRILL: Final = Drill(
    name="broker-dead",
    title="The broker is dead",
    happens="The broker of the rehearsal is stopped. Pages do not update by themselves, and workers hear of nothing: "
    "the scheduler works on what is due every few seconds. The broker starts again when somebody has acted on the "
    "incident, or after five minutes.",
    people="Take on the incident, and reload pages. Requests and approvals go on as usual, only slower: request and "
    "approve a payout meanwhile, and never request it again because its page stands still.",
    begin=_kill,
    end=_start_again,
    kinds=(alarms.BROKER_AWAY, alarms.WORK_STALLED),
    findings=lambda scene: [*_payouts(scene), *payments.paid_twice(scene)],
    until_somebody_acts=True,
    lasts=_LASTS,
)
