"""`manage.py house_tables`: the tables of docs/house.md that say what the code says, written from the code."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from chaindata.broadcasts import machine as broadcast_states
from chaindata.watching import machine as watching_states
from desk.incidents import machine as incident_states
from desk.machines.table import State, Table, Transition
from desk.notifications import machine as delivery_states
from desk.staff import machine as people_states
from exchange_ops.addresses import machine as address_states
from exchange_ops.orders import machine as order_states
from exchange_ops.orders.brackets import machine as bracket_states
from exchange_ops.policy_changes import machine as policy_states
from exchange_ops.positions import machine as margin_states
from exchange_ops.subaccounts import machine as subaccount_states
from exchange_ops.transfers import machine as transfer_states
from exchange_ops.withdrawals import machine as states

PAGE = Path(settings.BASE_DIR) / "docs" / "house.md"
# What the names of a machine's tables begin with, and where it is described.
MACHINES: dict[str, Table] = {
    "": states.TABLE,
    "transfer-": transfer_states.TABLE,
    "address-": address_states.TABLE,
    "subaccount-": subaccount_states.TABLE,
    "order-": order_states.TABLE,
    "bracket-": bracket_states.TABLE,
    "margin-": margin_states.TABLE,
    "broadcast-": broadcast_states.TABLE,
    "watched-": watching_states.ADDRESSES,
    "movement-": watching_states.MOVEMENTS,
    "incident-": incident_states.TABLE,
    "change-": people_states.TABLE,
    "delivery-": delivery_states.TABLE,
    "policy-": policy_states.TABLE,
}
_BEGIN, _END = "<!-- {name}: written by `manage.py house_tables --write` -->", "<!-- /{name} -->"


class Command(BaseCommand):
    """Compare the tables of the page with the code, or write them anew; a table that is not there is an error."""

    help = "Check that the generated tables of docs/house.md are what the code says; --write puts them right."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--write", action="store_true", help="write the tables instead of comparing them")

    def handle(self, *args: Any, **options: Any) -> None:
        before = PAGE.read_text()
        after = before
        for prefix, table in MACHINES.items():
            after = _put(after, f"{prefix}states", states_table(table.states))
            after = _put(after, f"{prefix}moves", moves_table(table.moves))
        if options["write"]:
            PAGE.write_text(after)
        elif after != before:
            raise CommandError(f"{PAGE.name} is not what the code says; run `manage.py house_tables --write`.")


def states_table(states: Mapping[str, State]) -> str:
    """Every state of a machine: what people read, whose turn it is, whether it is the end."""
    rows = [
        f"| `{name}` | {state.label} | {state.turn} | {'yes' if state.terminal else ''} | {state.sentence} |"
        for name, state in states.items()
    ]
    return "\n".join(["| state | label | whose turn | end | what the page says |", "|---|---|---|---|---|", *rows])


def moves_table(transitions: Iterable[Transition]) -> str:
    """Every move between states, gathered by where it starts."""
    moves = defaultdict(list)
    for move in transitions:
        target = "stays" if move.source == move.target else f"`{move.target}`"
        moves[move.source].append(f"{move.event} → {target} ({', '.join(move.who)})")
    rows = [f"| {f'`{source}`' if source else 'nothing'} | {'<br>'.join(events)} |" for source, events in moves.items()]
    return "\n".join(["| from | event → to (who) |", "|---|---|", *rows])


def _put(page: str, name: str, table: str) -> str:
    begin, end = _BEGIN.format(name=name), _END.format(name=name)
    if page.count(begin) != 1 or page.count(end) != 1:
        raise CommandError(f"{PAGE.name} has no place for the table {name!r}: it needs {begin} and {end}.")
    head, rest = page.split(begin)
    return f"{head}{begin}\n\n{table}\n\n{end}{rest.split(end)[1]}"
