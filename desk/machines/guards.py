"""What the database itself refuses about the rows of a machine, on both engines, whoever asks.

The rules are generated from the declaration of the machine. A row changes its state, version or decision only together
with the event of the new version. What was asked for is never edited, and a column that is filled once keeps its
content. A row begins as the table says; history is never changed, and nothing is removed. A room adds rules of its own.
A migration contains the text that it installs, and `verify_audit` compares what is installed with what is declared.
"""
# ruff: noqa: S608  these statements are put together from the names of our own tables and columns

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import models

from desk.machines.mover import Machine
from desk.machines.table import NONE, Column

NO_REMOVAL = "rows about money are never removed"
NO_EDIT = "the history of money is never changed"
NOT_YOURS = "nobody decides on their own request"
NOT_PROVEN = "a word counts only with a second factor of this person, given for it"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a table. `kind` is INSERT, UPDATE or DELETE, `when` the condition that breaks it, `says` the error.

    `when` is SQL for both engines, in which {n} stands for "is not the same as", and {items}(…) for the items of a list
    in JSON as rows with a `value`, {item}(list, '{at}1{end}') for the second of them.
    """

    table: str
    name: str
    kind: str
    when: str
    says: str


@dataclass(frozen=True)
class Guards:
    """The rules of one room: of its machine, of the tables that keep its history or its rows, and its own.

    `history` is never edited, `kept` never removed; every table of the history is kept. `replaced` are generated rules
    that an own one of the same name stands in for.
    """

    machine: Machine[Any] | None = None
    history: Sequence[type[models.Model]] = ()
    records: Sequence[type[models.Model]] = ()
    own: Sequence[Rule] = ()

    def rules(self) -> list[Rule]:
        """Every rule, the generated ones first."""
        own = {(rule.table, rule.name) for rule in self.own}
        rules = [rule for rule in self._of_machine() if (rule.table, rule.name) not in own]
        rules += self.own
        history, records = [table_of(model) for model in self.history], [table_of(model) for model in self.records]
        machine = [] if self.machine is None else [table_of(self.machine.model)]
        edited = {rule.table for rule in rules if rule.name == "no_edit"}
        rules += [Rule(table, "no_edit", "UPDATE", "1 = 1", NO_EDIT) for table in history if table not in edited]
        return rules + [
            Rule(table, "no_removal", "DELETE", "1 = 1", NO_REMOVAL) for table in (*machine, *records, *history)
        ]

    def statements(self, vendor: str) -> dict[str, str]:
        """The statements that make the triggers of an engine, by name."""
        return create_statements(vendor, self.rules())

    def install(self, connection: Any) -> None:
        """Create the triggers; used by tests that empty the tables."""
        with connection.cursor() as cursor:
            for statement in self.statements(connection.vendor).values():
                cursor.execute(statement)

    def remove(self, connection: Any) -> None:
        """Drop the triggers; used by tests that empty the tables."""
        with connection.cursor() as cursor:
            for rule in self.rules():
                cursor.execute(drop_statement(connection.vendor, rule.table, f"{rule.table}_{rule.name}"))

    def _of_machine(self) -> list[Rule]:
        if self.machine is None:
            return []
        table, noun = table_of(self.machine.model), self.machine.table.noun
        rules = [
            Rule(table, "moves_with_event", "UPDATE", _moved(self.machine),
                 f"{noun} moves only together with the event of its new version"),
            Rule(table, "content_fixed", "UPDATE", edited(_columns(self.machine, Column.FIXED)),
                 f"what was asked for in {noun} is never edited"),
            Rule(table, "begins", "INSERT", _begins(self.machine),
                 f"{noun} begins as {' or '.join(self.machine.table.born)}"),
        ]  # fmt: skip
        if once := _columns(self.machine, Column.ONCE):
            rules.append(Rule(table, "fills_once", "UPDATE", refilled(once), f"{noun} keeps what it was given"))
        return rules


def table_of(model: type[models.Model]) -> str:
    """The name of a model's table."""
    return str(model._meta.db_table)


def edited(columns: Iterable[str]) -> str:
    """The condition that any of these columns changes."""
    return " OR ".join(f"NEW.{column} {{n}} OLD.{column}" for column in columns)


def refilled(columns: Iterable[str]) -> str:
    """The condition that any of these columns was filled before and changes."""
    return " OR ".join(f"(OLD.{column} IS NOT NULL AND NEW.{column} {{n}} OLD.{column})" for column in columns)


def create_statements(vendor: str, rules: Iterable[Rule]) -> dict[str, str]:
    """Triggers as statements of an engine, by name."""
    write = _sqlite if vendor == "sqlite" else _postgresql
    return {f"{rule.table}_{rule.name}": write(f"{rule.table}_{rule.name}", rule) for rule in rules}


def drop_statement(vendor: str, table: str, name: str) -> str:
    """The statement that takes a trigger away, if it is there."""
    if vendor == "sqlite":
        return f"DROP TRIGGER IF EXISTS {name}"
    return f"DROP TRIGGER IF EXISTS {name} ON {table}; DROP FUNCTION IF EXISTS {name}()"


def _moved(machine: Machine[Any]) -> str:
    """The condition that a row moves without the event of its new version."""
    events, owner = table_of(machine.events), machine.owner
    decided = _columns(machine, Column.DECISION)
    same = [f"e.{owner} = NEW.id", "e.version = NEW.version", "e.from_state = OLD.state", "e.to_state = NEW.state"]
    same += [f"e.{column} = NEW.{column}" for column in decided]
    return (
        f"({edited(['state', 'version', *decided])}) AND NOT (NEW.version = OLD.version + 1 AND "
        f"EXISTS (SELECT 1 FROM {events} e WHERE {' AND '.join(same)}))"
    )


def _begins(machine: Machine[Any]) -> str:
    """The condition that a new row does not begin as the table allows."""
    born = " AND ".join(f"NEW.state <> '{name}'" for name in machine.table.born)
    wrong = [f"({born})" if len(machine.table.born) > 1 else born, "NEW.version <> 1"]
    wrong += [f"NEW.{column} <> '{NONE}'" for column in _columns(machine, Column.DECISION)]
    wrong += [f"NEW.{column} <> 0" for column in _columns(machine, Column.COUNTER)]
    wrong += [f"NEW.{column} IS NOT NULL" for column in _columns(machine, Column.ONCE)]
    return " OR ".join(wrong)


def _columns(machine: Machine[Any], flag: Column) -> list[str]:
    """The database columns that have this flag."""
    fields = {each.attname: each.column for each in machine.model._meta.concrete_fields}
    return [fields[name] for name in machine.table.named(flag)]


def _sqlite(name: str, rule: Rule) -> str:
    condition = rule.when.format(n="IS NOT", items="json_each", item="json_extract", at="$[", end="]")
    return (
        f"CREATE TRIGGER {name} BEFORE {rule.kind} ON {rule.table} WHEN {condition} "
        f"BEGIN SELECT RAISE(ABORT, '{rule.says}'); END"
    )


def _postgresql(name: str, rule: Rule) -> str:
    json = {"items": "jsonb_array_elements", "item": "jsonb_extract_path", "at": "", "end": ""}
    condition = rule.when.format(n="IS DISTINCT FROM", **json)
    row = "OLD" if rule.kind == "DELETE" else "NEW"
    return (
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF {condition} THEN "
        f"RAISE EXCEPTION '{rule.says}' USING ERRCODE = 'integrity_constraint_violation'; "
        f"END IF; RETURN {row}; END $body$; "
        f"CREATE TRIGGER {name} BEFORE {rule.kind} ON {rule.table} FOR EACH ROW EXECUTE FUNCTION {name}()"
    )
