"""A busy half hour of a desk, and backups of it at random moments: `python -m ….busy_desk FOLDER SEED BACKUPS`.

A moment is a point that others could notice: a commit, or something sent to the exchange or awaited from it. Which of
them it is is drawn from the seed. Half of the backups are made while the desk stands still there, so that the rows are
exactly those of the point; at the other half the desk works on meanwhile. They are made by the command, in a process of
its own that is forked before anything is open.
"""

import json
import os
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.exchange_ops.restores import desk_process

POINTS = 260  # from one backup to the next, in the middle
FIRST_ACTS = 25  # before the first moment
ACT_S = 6  # from one act of people to the next, in the middle; 300 of them are half an hour
TASKS = 6  # that workers do meanwhile
MOMENTS = {"committed", "send", "recv"}
CHANGING = ("POST ", "PUT ", "PATCH ", "DELETE ")
WEIGHT = 12  # of the points from a call that changes something to what is stored of its answer


class BackupMaker:
    """A process that runs the command of a backup whenever it is told a folder."""

    def __init__(self, time: desk_process.Time) -> None:
        orders, self._orders = os.pipe()
        self._answers, answers = os.pipe()
        self._open = 0
        if os.fork():
            os.close(orders)
            os.close(answers)
            self._lines = os.fdopen(self._answers)
            return
        os.close(self._orders)
        os.close(self._answers)
        try:
            with os.fdopen(orders) as lines:
                for line in lines:
                    os.write(answers, f"{self._answer(json.loads(line), time)}\n".encode())
        finally:
            os._exit(0)

    def make(self, folder: Path, *, ahead_s: float, waits: bool) -> None:
        """Have one made; with `waits` the caller goes on when it is there."""
        os.write(self._orders, f"{json.dumps([str(folder), ahead_s])}\n".encode())
        self._open += 1
        if waits:
            self.finish()

    def finish(self) -> None:
        """Every one that was ordered is there."""
        while self._open:
            answer = self._lines.readline().strip()
            assert answer == "made", answer
            self._open -= 1

    @staticmethod
    def _answer(order: list[Any], time: desk_process.Time) -> str:
        from django.core.management import CommandError, call_command

        time.ahead_s = order[1]
        try:
            with open(os.devnull, "w") as nobody:
                call_command("backup", order[0], stdout=nobody)
        except CommandError as refusal:
            return str(refusal)
        return "made"


@dataclass
class Moments:
    """Points of the desk's work, at some of which a backup is made."""

    dice: random.Random
    maker: BackupMaker
    time: desk_process.Time
    folder: Path
    most: int
    backups: list[dict[str, Any]] = field(default_factory=list)
    is_counting: bool = False
    _before_next: int = POINTS
    _weight: int = 1

    def reach(self, kind: str, what: str) -> None:
        """About to do this."""
        self.pass_by(kind, what)

    def pass_by(self, kind: str, what: str) -> None:
        """At this point; here a backup may be made."""
        if kind not in MOMENTS or not self.is_counting or len(self.backups) == self.most:
            return
        if kind == "send":
            self._weight = WEIGHT if what.startswith(CHANGING) else 1
        self._before_next -= self._weight
        if kind == "committed":
            self._weight = 1
        if self._before_next > 0:
            return
        self._before_next = self.dice.randrange(1, 2 * POINTS)
        self.is_counting = False  # what the backup itself does here is no work of the desk
        waits = self.dice.random() < 0.5
        number = len(self.backups)
        self.backups.append(
            {"number": number, "moment": f"{kind} {what.splitlines()[0][:90] if what else ''}".strip(), "waits": waits}
        )
        self.maker.make(self.folder / f"backup-{number}", ahead_s=self.time.ahead_s, waits=waits)
        self.is_counting = True


def main(folder: Path, seed: int, backups: int) -> dict[str, Any]:
    """The half hour; what came of it."""
    from tests.money.nursery import watch_database, watch_sockets

    time = desk_process.Time()
    desk_process.open_desk(time)
    maker = BackupMaker(time)
    from django.conf import settings

    from tests.exchange_ops.restores.busy_people import People

    sandbox = desk_process.open_exchange(folder / "exchange", settings.SANDBOX_PORT, time)
    dice = random.Random(seed)
    people = People.of_demo(dice, sandbox)
    tasks = desk_process.every_task()
    desk_process.work(tasks)
    moments = Moments(dice, maker, time, folder, backups)
    watch_database(moments)
    watch_sockets(moments)
    while len(moments.backups) < backups:
        moments.is_counting = len(people.acts) > FIRST_ACTS
        people.act()
        desk_process.work(dice.choices(tasks, [3 if "sweep" in name else 1 for name in tasks], k=TASKS))
        moments.is_counting = False
        time.ahead_s += dice.uniform(0, 2 * ACT_S)
    maker.finish()
    people.heal()
    sandbox.stop()
    return {"ahead_s": time.ahead_s, "acts": people.acts, "backups": moments.backups}


if __name__ == "__main__":
    place = Path(sys.argv[1])
    (place / "busy.json").write_text(json.dumps(main(place, int(sys.argv[2]), int(sys.argv[3]))))
