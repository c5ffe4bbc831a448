"""A desk that began earlier, by migrations that are replaced since, has exactly the tables of one that begins today."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from django.db import connection

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.engine("migrations"),
    pytest.mark.thorough("it changes with migrations alone, and a desk that began earlier is upgraded by a release"),
    pytest.mark.timeout(600),
]

ROOT = Path(__file__).resolve().parents[3]
BEGUN = [
    ("desk", "0001_people_and_audit"),
    ("exchange_ops", "0001_accounts_money_and_rules"),
    ("chaindata", "0001_answers_and_headers"),
]
BEGIN = f"""
import django
django.setup()
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
executor = MigrationExecutor(connection)
executor.loader = MigrationLoader(connection, replace_migrations=False)
executor.migrate({BEGUN})
"""
LOOK = """
import json
import django
django.setup()
from django.db import connection
from tests.desk.machines.test_replaced_migrations import schema
print("schema", json.dumps(schema(connection)))
"""
POSTGRESQL = {
    "columns": "SELECT table_name || '.' || column_name, data_type || coalesce(character_maximum_length::text, '') || "
    "coalesce(numeric_precision::text, '') || is_nullable || coalesce(column_default, '') || is_identity "
    "FROM information_schema.columns WHERE table_schema = 'public'",
    "constraints": "SELECT conrelid::regclass || '.' || conname, pg_get_constraintdef(oid) FROM pg_constraint "
    "WHERE connamespace = 'public'::regnamespace",
    "indexes": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "triggers": "SELECT tgrelid::regclass || '.' || tgname, pg_get_triggerdef(oid) FROM pg_trigger "
    "WHERE NOT tgisinternal",
    "functions": "SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace "
    "AND prokind = 'f'",
}


def schema(connection):
    """{kind: {name: text}} of everything that migrations make, whatever the order of columns."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            found = {}
            for kind, question in POSTGRESQL.items():
                cursor.execute(question)
                found[kind] = dict(cursor.fetchall())
            return found
        cursor.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        found = {}
        for kind, name, text in cursor.fetchall():
            found.setdefault(kind, {})[name] = sorted(parts(text)) if kind == "table" else text
        return found


def parts(text):
    """What stands between the commas of a CREATE TABLE: its columns and constraints."""
    inside = text[text.index("(") + 1 : text.rindex(")")]
    depth, quoted, piece = 0, False, ""
    for letter in inside:
        quoted ^= letter == "'"
        depth += 0 if quoted else (letter == "(") - (letter == ")")
        if letter == "," and not depth and not quoted:
            yield piece.strip()
            piece = ""
        else:
            piece += letter
    yield piece.strip()


def run(environment, *command):
    ended = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=500
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture
def elsewhere(tmp_path):
    """The environment of a process with a database of its own, on the same engine."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "project.settings", "DATA_DIR": str(tmp_path)}
    if connection.vendor == "sqlite":
        yield environment | {"DATABASE_URL": f"sqlite:///{tmp_path / 'before.sqlite3'}"}
        return
    server = os.environ["DATABASE_URL"].rsplit("/", 1)[0]
    name = f"before_{os.getpid()}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as rows:
        rows.execute(f"CREATE DATABASE {name}")
        yield environment | {"DATABASE_URL": f"{server}/{name}"}
        rows.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_desk_that_began_earlier_goes_on_and_ends_with_the_same_tables_and_triggers(elsewhere):
    run(elsewhere, "-c", BEGIN)
    done = run(elsewhere, "manage.py", "migrate", "--no-input")
    assert "_squashed_" not in done
    assert "exchange_ops.0045_fee_rates" in done
    before = json.loads(re.search(r"^schema (.*)$", run(elsewhere, "-c", LOOK), re.M)[1])
    # The test's own database was made at once.
    now = schema(connection)
    assert set(now) == set(before)
    for kind, things in now.items():
        assert things == before[kind]
    assert "No migrations to apply" in run(elsewhere, "manage.py", "migrate", "--no-input")
    assert "[ ]" not in run(elsewhere, "manage.py", "showmigrations")
