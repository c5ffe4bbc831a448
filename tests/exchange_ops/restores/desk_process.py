"""A desk and its exchange in one process, with a time of their own that is moved by hand.

The rows, the files of heads and the secrets are those of the process's DATA_DIR; the exchange is the sandbox over the
journal in a folder of its own. Work is done by the tasks that beat wakes, called by name one after the other.
`python -m tests.exchange_ops.restores.desk_process AHEAD_S COMMAND ...` is `manage.py` at that time.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

SEED = 1  # of the exchange's world
# What beat wakes, but for the chain, the messages to people, and what only tidies up or draws curves.
LEFT_OUT = ("chaindata.", "exchange_ops.purge", "exchange_ops.record_portfolio", "exchange_ops.run_checks")
LEFT_OUT += ("exchange_ops.deliver", "exchange_ops.prove_payouts", "exchange_ops.compare_deposits")


@dataclass
class Time:
    """The time of the desk and of its exchange: the machine's, and so many seconds more."""

    ahead_s: float = 0

    def begin(self) -> None:
        """From now on the desk of this process goes by it."""
        from desk import clock

        real = clock.now
        clock.now = lambda: real() + timedelta(seconds=self.ahead_s)

    def now_ms(self) -> int:
        """What the exchange goes by."""
        from sandbox.engine.clock import wall_ms

        return wall_ms() + int(self.ahead_s * 1000)


def open_desk(time: Time) -> None:
    """Load the desk of this process, as its workers do at their start."""
    import django

    django.setup()
    from django.conf import settings

    from desk import rooms

    settings.CALL_DEADLINE_SECONDS = 5
    settings.MFA_TOTP_TOLERANCE = 400
    rooms.work()
    time.begin()


def open_exchange(folder: Path, port: int, time: Time) -> Any:
    """The exchange as its journal in the folder has it, at the address that the desk's settings name."""
    from sandbox.serving import InProcessSandbox

    return InProcessSandbox(seed=SEED, data_dir=folder, port=port, still=True, now_ms=time.now_ms)


def every_task() -> list[str]:
    """The names of the tasks that a round does, in the order in which the rooms declare them."""
    from desk import rooms

    tasks = [task for work in rooms.work() for task in work.tasks if task.every_s is not None]
    return [task.name for task in tasks if not task.name.startswith(LEFT_OUT)]


def work(names: Iterable[str]) -> None:
    """Do these tasks here and now, as a worker that is woken for them does."""
    from desk import outbox

    application = outbox.application()
    for name in names:
        application.tasks[name]()


if __name__ == "__main__":
    from django.core.management import execute_from_command_line

    Time(float(sys.argv[1])).begin()
    execute_from_command_line(["manage.py", *sys.argv[2:]])
