"""`manage.py house_tables`: the tables of docs/states.md, and docs/settings.md, written from the code."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from desk.machines.rows import Subject
from desk.machines.table import State, Table, Transition
from project import settings_page

STATES_PAGE = Path(settings.BASE_DIR) / "docs" / "states.md"
SETTINGS_PAGE = Path(settings.BASE_DIR) / "docs" / "settings.md"
# What ships, and so may read the environment.
APPS = ("chaindata", "desk", "exchange_ops", "project", "sandbox", "wire")
_BEGIN, _END = "<!-- {name}: written by `manage.py house_tables --write` -->", "<!-- /{name} -->"


class Command(BaseCommand):
    """Compare both pages with the code, or write them anew; a table that has no place on its page is an error."""

    help = "Check that docs/states.md and docs/settings.md match the code; --write updates them."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--write", action="store_true", help="write the pages instead of checking them")

    def handle(self, *args: Any, **options: Any) -> None:
        for path, text_of in ((STATES_PAGE, states_text), (SETTINGS_PAGE, settings_text)):
            text = text_of()
            if options["write"]:
                path.write_text(text)
            elif path.read_text() != text:
                raise CommandError(f"{path.name} is out of date; run `manage.py house_tables --write`.")


def settings_text() -> str:
    """The page of settings. Raises CommandError for a variable that is read and not described."""
    try:
        return settings_page.page(Path(settings.BASE_DIR), APPS)
    except settings_page.CannotDescribe as problem:
        raise CommandError(str(problem)) from None


def states_text() -> str:
    """The page of states with its tables written anew; the sentences around them stay."""
    page = STATES_PAGE.read_text()
    for name, table in tables().items():
        page = _put(page, f"{name}-states", states_table(table.states))
        page = _put(page, f"{name}-moves", moves_table(table.moves))
    return page


def tables() -> dict[str, Table]:
    """Every table of states, by the name of the rows that move by it, in lower case."""
    return {model._meta.model_name or "": model.table for model in apps.get_models() if issubclass(model, Subject)}


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
