"""Moving withdrawals: the machine of payouts. Its table is `machine`, the moves of its chain are made by `payouts`."""

from desk.incidents.alarming import Alarming
from desk.machines.mover import CannotMove
from exchange_ops.shared import alarms
from exchange_ops.withdrawals import machine
from exchange_ops.withdrawals.models import Withdrawal, WithdrawalEvent

__all__ = ["CannotMove", "create", "lock", "move", "task_of", "touch"]

ADVANCE_TASK = "exchange_ops.advance"
RELEASE_TASK = "exchange_ops.release"  # the same step in a worker of its own, which no other call can fill
MACHINE: Alarming[Withdrawal] = Alarming(
    model=Withdrawal,
    events=WithdrawalEvent,
    task=ADVANCE_TASK,
    tasks={machine.ROLLING_BACK: RELEASE_TASK},
    lists=("withdrawals",),
    locked_with=("account", "initiator"),
    alarms=dict.fromkeys((machine.DISPUTED, machine.INVESTIGATE), alarms.PAYOUT_DISPUTED),
)
create, move, touch, lock, task_of = MACHINE.create, MACHINE.move, MACHINE.touch, MACHINE.lock, MACHINE.task_of
