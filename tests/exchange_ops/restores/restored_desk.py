"""A desk after its restore, at its exchange as that stands now: `python -m ….restored_desk EXCHANGE SEED AHEAD_S`.

It starts as any desk does, with the rows in its DATA_DIR. Its workers work before anybody has looked; then two people
of treasury settle what waits, and everybody goes on until nothing moves any more. What is wrong is printed as JSON.
"""

import json
import random
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

from tests.exchange_ops.restores import desk_process
from tests.exchange_ops.restores.exchange_books import MAKING, Books, plain

LEAPS_S = (20, 20, 60, 60, 600, 600, 1800, 1800, 3600, 3600, 3600, 3600)
MOST_ROUNDS = 60
WATCHING = ("entering", "guarded")  # a bracket with orders at the exchange, for as long as they rest
UNCLEAR = ("investigate", "unclear", "disputed")


class RestoredDesk:
    """The desk of this process, its exchange and its people."""

    def __init__(self, exchange: Path, seed: int, ahead_s: float) -> None:
        self.time = desk_process.Time(ahead_s)
        desk_process.open_desk(self.time)
        from django.conf import settings
        from django.core.management import call_command

        call_command("prepare", verbosity=0)
        self.sandbox = desk_process.open_exchange(exchange, settings.SANDBOX_PORT, self.time)
        from tests.exchange_ops.restores.busy_people import People

        self.books = Books(self.sandbox, exchange)
        self.dice = random.Random(seed)
        self.people = People.of_demo(self.dice, self.sandbox, first=500_000, form="restored")
        self.tasks = desk_process.every_task()
        self.problems: list[str] = []
        self.facts: dict[str, Any] = {}

    def run(self) -> None:
        """From the start to the last look."""
        self.before_anybody_looked()
        self.settle()
        self.go_on()
        self.look()

    def round(self, seconds: float) -> None:
        """Time passes, and workers do whatever is due."""
        self.time.ahead_s += seconds
        desk_process.work(self.tasks)

    # Before anybody has looked ----------------------------------------------------------------------------------------

    def before_anybody_looked(self) -> None:
        """Nothing leaves that makes anything, and the desk says so."""
        from desk.incidents.models import Incident

        before = len(self.books.entries())
        pause_s = self.dice.choice((5, 5, 1800))
        for _ in range(3):
            self.round(pause_s)
        calls = [one["do"] for one in self.books.entries()[before:] if one["do"] in MAKING]
        self.expect(not calls, f"sent before anybody had looked: {calls}")
        incidents = Incident.objects.filter(kind="fell_back", gone_at=None).count()
        self.expect(incidents == 1, f"{incidents} incidents say that the desk fell back")

    # Two people settle ------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Two people say of each item what the exchange's own books say of it."""
        from desk import clock
        from desk.restores import settling

        row = settling.current()
        assert row is not None, "no restore is open"
        items = settling.items(row)
        verdicts = {item.subject: self._verdict(item) for item in items}
        self.facts["waiting"] = len(items)
        for person in self.people.walk.approvers[:2]:
            settling.give_word(
                restore_id=row.pk,
                person=person,
                verdicts=verdicts,
                comment="Compared with the exchange's own page",
                digest=settling.digest_of(row, items, verdicts),
                answer=self.people.walk.answer(person),
                session_key="session-of-a-test",
                now=clock.now(),
            )
        self.expect(settling.current() is None, "the restore is still open")

    def _verdict(self, item: Any) -> str:
        """What is done already is cancelled, and has to be shown as such; so is half of the rest."""
        from desk.restores.waiting import CANCEL, GO_ON

        if not self._is_done(item.subject):
            return self.dice.choice((GO_ON, CANCEL)) if not item.evidence else CANCEL
        self.expect(bool(item.evidence), f"{item.reference} ({item.title}) is done, and nothing shows it")
        self.facts["done"] = self.facts.get("done", 0) + 1
        return CANCEL

    def _is_done(self, subject: str) -> bool:
        """Whether the exchange has done what this row asks for."""
        name, _, number = subject.partition(":")
        row: Any = next(model for model in _machines() if model.name == name).objects.get(pk=number)
        if name == "withdrawal":
            return self.books.paid(row.amount) > 0
        if name == "transfer":
            return self.books.effects()["transfer", plain(row.amount)] > 0
        if getattr(row, "amount", None):
            return self.books.effects()["collateral", plain(row.amount)] > 0
        ids = {order.client_id for order in self.books.orders().values()}
        return bool(getattr(row, "client_order_id", "")) and row.client_order_id in ids

    # On ---------------------------------------------------------------------------------------------------------------

    def go_on(self) -> None:
        """Treasury approves whatever it is asked; then everybody waits until nothing moves for hours."""
        last: list[tuple[str, int, str]] = []
        moved, still = last, 0
        for number in range(MOST_ROUNDS):
            if number % 3 == 0:
                self.people.decide()
            self.round(LEAPS_S[min(number, len(LEAPS_S) - 1)])
            now = list(self._rows())
            moved = sorted(set(now) - set(last))
            still = still + 1 if now == last else 0
            last = now
            if still >= 3 and number > len(LEAPS_S):
                self.facts["rounds"] = number
                return
        self.problems.append(f"after many hours these still move: {moved}")

    def _rows(self) -> Iterator[tuple[str, int, str]]:
        for model in _machines():
            yield from ((model.name, *each) for each in model.objects.order_by("pk").values_list("pk", "state"))

    # The last look ----------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """From three sides: the exchange's books, the desk's rows, and the trail."""
        from django.core.management import call_command

        self.problems += [f"twice: {effect}" for effect in self.books.twice()]
        self.expect(not self.books.oversold(), f"{self.books.oversold()} increments are sold that nobody bought")
        self.expect(self.books.is_balanced(), "the exchange's books do not balance")
        self.expect(not self.books.holds(), f"reserved for ever: {self.books.holds()}")
        self._look_at_copies()
        self._look_at_rows()
        result = StringIO()
        try:
            call_command("verify_audit", "--replay", stdout=result)
        except SystemExit:
            self.problems.append(f"audit: {result.getvalue()}")

    def _look_at_copies(self) -> None:
        from exchange_ops.ledger.models import LedgerEntry
        from exchange_ops.orders.models import Order

        ledger = dict(LedgerEntry.objects.values_list("exchange_id", "status"))
        for one in self.books.transactions():
            status = ledger.get(one.id)
            self.expect(status == str(one.status), f"{one.type} of {one.amount} is {one.status}, here {status}")
        numbers = set(Order.objects.exclude(exchange_id=None).values_list("exchange_id", flat=True))
        missing = [order.client_id for number, order in self.books.orders().items() if number not in numbers]
        self.expect(not missing, f"orders that are not here: {missing}")

    def _look_at_rows(self) -> None:
        from desk.incidents.models import Incident
        from desk.machines.table import Turn
        from exchange_ops.transfers.models import Transfer
        from exchange_ops.withdrawals.models import Withdrawal

        causes = set(Incident.objects.filter(gone_at=None).values_list("cause", flat=True))
        for model in _machines():
            for row in model.objects.order_by("pk"):
                state = model.table.states[row.state]
                if state.terminal or row.state in WATCHING:
                    continue
                is_stuck = state.turn in {Turn.WORKER, Turn.EXCHANGE} or row.state in UNCLEAR
                sentence = f"{row.reference} is {row.state}: {row.last_problem}"
                self.expect(not is_stuck or row.subject in causes, sentence)
        for row in Transfer.objects.filter(state="done"):
            times = self.books.effects()["transfer", plain(row.amount)]
            self.expect(times == 1, f"{row.reference} is done, and the exchange has moved it {times} times")
        for row in Withdrawal.objects.order_by("pk"):
            paid = self.books.paid(row.amount)
            if row.state in {"committed", "sent", "settled", "verified"}:
                self.expect(paid == 1, f"{row.reference} is {row.state}, and the exchange has paid it {paid} times")
            elif row.state in {"refused", "lapsed", "rolled_back", "expired", "failed"}:
                self.expect(paid == 0, f"{row.reference} is {row.state}, and the exchange has paid it")

    def expect(self, holds: bool, otherwise: str) -> None:
        """What has to hold, and what is wrong where it doesn't."""
        if not holds:
            self.problems.append(otherwise)


def _machines() -> list[Any]:
    from exchange_ops.orders.brackets.models import Bracket
    from exchange_ops.orders.models import Order
    from exchange_ops.positions.models import MarginAction
    from exchange_ops.transfers.models import Transfer
    from exchange_ops.withdrawals.models import Withdrawal

    return [Withdrawal, Transfer, Order, Bracket, MarginAction]


if __name__ == "__main__":
    desk = RestoredDesk(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
    desk.run()
    desk.sandbox.stop()
    print(json.dumps({"problems": desk.problems, "facts": desk.facts}))
