"""`manage.py make_guards APP ROOM`: a migration that installs what changed of a room's triggers, with their text in it.

Needed whenever what a room declares of its guards changed, and after every migration that changes a column or a
constraint of a guarded table: SQLite makes such a table anew, and its triggers are lost with the old one.

Only those are written that the migrations so far don't leave as they are declared: on SQLite by what is there after all
of them have run on an empty database, on PostgreSQL by the last text that one of them has.
"""

import contextlib
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader

from desk import rooms

_WIDTH = 110
_TEXT = '''from django.db import migrations

from desk.database.operations import ReplaceTriggers

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {tables}
SQLITE = {sqlite}
POSTGRESQL = {postgresql}


class Migration(migrations.Migration):
    """Guards of {room}, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("{app}", "{newest}")]

    operations = [ReplaceTriggers(TABLES, SQLITE, POSTGRESQL)]
'''


class Command(BaseCommand):
    """Write the migration, if one is needed; nothing is installed before it is run."""

    help = "Write a migration that installs the changed triggers of a room."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("app", help="the app that the migration belongs to")
        parser.add_argument("room", help="the name under which the room declares its guards")
        parser.add_argument("--gone", nargs="*", default=[], metavar="TABLE.TRIGGER", help="no longer declared")
        parser.add_argument("--folder", type=Path, help="folder to write to (default: the app's migrations)")

    def handle(self, *args: Any, **options: Any) -> None:
        app, room = options["app"], options["room"]
        if room not in (declared := rooms.guards()):
            raise CommandError(f"No room declares guards as {room!r}; available: {', '.join(declared)}.")
        loader = MigrationLoader(None)
        sqlite, postgresql = (declared[room](vendor) for vendor in ("sqlite", "postgresql"))
        there, last = installed_on_sqlite(), _last_texts(loader)
        changed = [name for name in sqlite if (there.get(name), last.get(name)) != (sqlite[name], postgresql[name])]
        if not changed and not options["gone"]:
            self.stdout.write(f"All guards of {room} are up to date; no files written.")
            return
        sqlite, postgresql = ({name: texts[name] for name in changed} for texts in (sqlite, postgresql))
        tables = {name: _table(text) for name, text in sqlite.items()}
        for gone in options["gone"]:
            table, _, name = gone.partition(".")
            tables[name] = table
        newest = _newest(loader, app)
        # Of a migration that replaces others, the number of the last of them.
        number = (MigrationAutodetector.parse_number(newest) or 0) + 1
        path = (options["folder"] or Path(apps.get_app_config(app).path) / "migrations") / (
            f"{number:04d}_guards_of_{re.sub('[^a-z]', '_', room)}.py"
        )
        texts = {"tables": _plain(tables), "sqlite": _wrapped(sqlite), "postgresql": _wrapped(postgresql)}
        path.write_text(_TEXT.format(**texts, app=app, newest=newest, room=room))
        self.stdout.write(f"{path}")


def installed_on_sqlite() -> dict[str, str]:
    """The text of each trigger that is there once all migrations have run on an empty database."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.sqlite3"
        environment = {**os.environ, "DATA_DIR": folder, "DATABASE_URL": f"sqlite:///{rows}"}
        command = [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity=0"]
        ended = subprocess.run(
            command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, check=False
        )
        if ended.returncode:
            raise CommandError(f"The existing migrations fail on an empty database: {ended.stderr.strip()}")
        with contextlib.closing(sqlite3.connect(rows)) as database:
            return dict(database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"))


def _last_texts(loader: MigrationLoader) -> dict[str, str]:
    """The text for PostgreSQL that each trigger had in the last migration that installs or removes it."""
    texts: dict[str, str] = {}
    order = dict.fromkeys(node for leaf in loader.graph.leaf_nodes() for node in loader.graph.forwards_plan(leaf))
    for node in order:
        written = vars(sys.modules[loader.disk_migrations[node].__module__])
        for name in written.get("TABLES", ()):
            texts.pop(name, None)
        texts |= written.get("POSTGRESQL", {})
    return texts


def _newest(loader: MigrationLoader, app: str) -> str:
    leaves = loader.graph.leaf_nodes(app)
    if len(leaves) != 1:
        raise CommandError(f"{app} has {len(leaves)} leaf migrations; exactly one is required.")
    return str(leaves[0][1])


def _table(statement: str) -> str:
    match = re.search(r" ON (\w+) ", statement)
    if match is None:
        raise CommandError(f"This statement names no table: {statement}")
    return match[1]


def _plain(names: dict[str, str]) -> str:
    return "{\n" + "".join(f'    "{name}": "{value}",\n' for name, value in names.items()) + "}"


def _wrapped(statements: Any) -> str:
    """The statements as they stand in a source file: pieces of at most a line's length, broken between words."""
    lines = ["{"]
    for name, text in statements.items():
        lines.append(f'    "{name}": (')
        piece = ""
        for word in re.findall(r"\S+\s*", text):
            if piece and len(piece + word) > _WIDTH:
                lines.append(f"        {_quoted(piece)}")
                piece = ""
            piece += word
        lines += [f"        {_quoted(piece)}", "    ),"]
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
