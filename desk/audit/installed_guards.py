"""The triggers of the database, compared with the ones that this version declares: none missing, changed, off or new.

A room declares the statements that make its triggers, by engine (`desk.rooms`). On SQLite the kept text is compared; on
PostgreSQL what the catalogue says of each: when it fires, whether it is switched on, and the body of its function.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection

from desk import rooms

_BITS = {"ROW": 1, "BEFORE": 2, "INSERT": 4, "DELETE": 8, "UPDATE": 16, "TRUNCATE": 32, "STATEMENT": 0}
_TRIGGER = re.compile(
    r"CREATE TRIGGER (\w+) BEFORE ([A-Z ]+?) ON (\w+)\s+FOR EACH (ROW|STATEMENT) EXECUTE FUNCTION (\w+)\(\)"
)
_FUNCTION = re.compile(
    r"CREATE FUNCTION (\w+)\(\) RETURNS trigger LANGUAGE plpgsql AS \$body\$(.*?)\$body\$", re.DOTALL
)
_INSTALLED = """
    SELECT t.tgname, c.relname, concat_ws(':', t.tgtype, t.tgenabled, t.tgqual IS NULL, t.tgnargs, t.tgattr, p.proname,
    p.prosrc) FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_class c ON c.oid = t.tgrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE NOT t.tgisinternal AND n.nspname = current_schema()
"""


@dataclass(frozen=True, slots=True)
class Guard:
    """One trigger: its table, and everything that decides what it refuses, as one text."""

    table: str
    text: str


def findings() -> Iterator[str]:
    """A sentence for each trigger that is not as declared."""
    declared, installed = declarations(connection.vendor), _installed()
    for name, guard in declared.items():
        if installed.get(name) != guard:
            yield f"Trigger {name} on table {guard.table} is missing, changed or disabled."
    for name in installed.keys() - declared.keys():
        yield f"The table {installed[name].table} has a trigger {name} that this version does not use."


def declarations(vendor: str) -> dict[str, Guard]:
    """Every declared trigger of an engine by name."""
    statements = {name: text for source in rooms.guards().values() for name, text in source(vendor).items()}
    if vendor == "sqlite":
        return {name: Guard(_table(text), text) for name, text in statements.items()}
    text = ";\n".join(statements.values())
    bodies = dict(_FUNCTION.findall(text))
    return {
        name: Guard(table, f"{_kind(events, each)}:O:t:0::{function}:{bodies[function]}")
        for name, events, table, each, function in _TRIGGER.findall(text)
    }


def _installed() -> dict[str, Guard]:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger'")
        else:
            cursor.execute(_INSTALLED)
        return {name: Guard(table, text) for name, table, text in cursor.fetchall()}


def _table(statement: str) -> str:
    match = re.search(r" ON (\w+)", statement)
    return match[1] if match else ""


def _kind(events: str, each: str) -> int:
    return _BITS["BEFORE"] + _BITS[each] + sum(_BITS[event] for event in events.split(" OR "))
