"""`manage.py house_tables`: the tables of docs/states.md, and docs/settings.md, written from the code."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from chaindata.broadcasts import states as broadcast_states
from chaindata.watching import states as watching_states
from desk.incidents import states as incident_states
from desk.machines.table import State, Table, Transition
from desk.notifications import states as delivery_states
from desk.restores import states as restore_states
from desk.staff import states as people_states
from exchange_ops.addresses import states as address_states
from exchange_ops.orders import states as order_states
from exchange_ops.orders.brackets import states as bracket_states
from exchange_ops.policy_changes import states as policy_states
from exchange_ops.positions import states as margin_states
from exchange_ops.subaccounts import states as subaccount_states
from exchange_ops.transfers import states as transfer_states
from exchange_ops.withdrawals import states as withdrawal_states
from project import settings_page

STATES_PAGE = Path(settings.BASE_DIR) / "docs" / "states.md"
SETTINGS_PAGE = Path(settings.BASE_DIR) / "docs" / "settings.md"
# What ships, and so may read the environment.
APPS = ("chaindata", "desk", "exchange_ops", "project", "sandbox", "wire")
# What the names of a machine's tables begin with on the page of states.
MACHINES: dict[str, Table] = {
    "withdrawal-": withdrawal_states.TABLE,
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
    "restore-": restore_states.TABLE,
}
_BEGIN, _END = "<!-- {name}: written by `manage.py house_tables --write` -->", "<!-- /{name} -->"


class Command(BaseCommand):
    """Compare both pages with the code, or write them anew; a table that has no place on its page is an error."""

    help = "Check that docs/states.md and docs/settings.md are what the code says; --write puts them right."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--write", action="store_true", help="write the pages instead of comparing them")

    def handle(self, *args: Any, **options: Any) -> None:
        for path, text_of in ((STATES_PAGE, states_text), (SETTINGS_PAGE, settings_text)):
            text = text_of()
            if options["write"]:
                path.write_text(text)
            elif path.read_text() != text:
                raise CommandError(f"{path.name} is not what the code says; run `manage.py house_tables --write`.")


def settings_text() -> str:
    """The page of settings. Raises CommandError for a variable that is read and not described."""
    try:
        return settings_page.page(Path(settings.BASE_DIR), APPS)
    except settings_page.CannotDescribe as problem:
        raise CommandError(str(problem)) from None


def states_text() -> str:
    """The page of states with its tables written anew; the sentences around them stay."""
    page = STATES_PAGE.read_text()
    for prefix, table in MACHINES.items():
        page = _put(page, f"{prefix}states", states_table(table.states))
        page = _put(page, f"{prefix}moves", moves_table(table.moves))
    return page


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
        raise CommandError(f"{STATES_PAGE.name} has no place for the table {name!r}: it needs {begin} and {end}.")
    head, rest = page.split(begin)
    return f"{head}{begin}\n\n{table}\n\n{end}{rest.split(end)[1]}"
