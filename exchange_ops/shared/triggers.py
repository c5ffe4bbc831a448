"""How a rule that the database keeps becomes a trigger of either engine, and the words that several rooms share."""

from collections.abc import Iterable, Mapping
from typing import Any

NO_REMOVAL = "rows about money are never removed"
NO_EDIT = "the history of money is never changed"
NOT_YOURS = "nobody decides on their own request"
NOT_PROVEN = "a word counts only with a second factor of this person, given for it"


def written(vendor: str, rules: Iterable[tuple[str, str, str, str, str]]) -> dict[str, str]:
    """Triggers as statements of an engine, by name; a rule is name, kind, table, when it is broken, what it says."""
    write = _sqlite if vendor == "sqlite" else _postgresql
    return {name: write(name, kind, table, when, says) for name, kind, table, when, says in rules}


def _sqlite(name: str, kind: str, table: str, when: str, says: str) -> str:
    return (
        f"CREATE TRIGGER {name} BEFORE {kind} ON {table} WHEN {when.format(n='IS NOT')} "
        f"BEGIN SELECT RAISE(ABORT, '{says}'); END"
    )


def _postgresql(name: str, kind: str, table: str, when: str, says: str) -> str:
    condition = when.format(n="IS DISTINCT FROM")
    kept = "OLD" if kind == "DELETE" else "NEW"
    return (
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF {condition} THEN "
        f"RAISE EXCEPTION '{says}' USING ERRCODE = 'integrity_constraint_violation'; "
        f"END IF; RETURN {kept}; END $body$; "
        f"CREATE TRIGGER {name} BEFORE {kind} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()"
    )


def create(connection: Any, texts: Mapping[str, str]) -> None:
    """Run the statements that make triggers."""
    with connection.cursor() as cursor:
        for statement in texts.values():
            cursor.execute(statement)


def drop(connection: Any, tables: Mapping[str, str]) -> None:
    """Take triggers away, by name with the table of each; those that are not there are passed over."""
    with connection.cursor() as cursor:
        for name, table in tables.items():
            if connection.vendor == "sqlite":
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
            else:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON {table}; DROP FUNCTION IF EXISTS {name}()")
