"""A second start leaves the preparation out only while everything it did still holds."""

import os
import sqlite3
from types import SimpleNamespace

import pytest

from project.supervisor import prepared


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """A house whose code is one folder, with a database of one migration and collected static files."""
    root = tmp_path / "code"
    (root / "desk").mkdir(parents=True)
    (root / "desk" / "demo.py").write_text("PEOPLE = 1\n")
    (root / "requirements.txt").write_text("django\n")
    monkeypatch.setattr(prepared, "ROOT", root)
    data = tmp_path / "data"
    (data / "static").mkdir(parents=True)
    database = data / "desk.sqlite3"
    with sqlite3.connect(database) as rows:
        rows.execute("CREATE TABLE django_migrations (app TEXT, name TEXT)")
        rows.execute("INSERT INTO django_migrations VALUES ('desk', '0001')")
    rows.close()
    return SimpleNamespace(
        DATA_DIR=data,
        STATIC_ROOT=data / "static",
        DEMO=True,
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": str(database)}},
        code=root,
        database=database,
    )


def test_nothing_holds_before_the_first_preparation(settings):
    assert not prepared.holds(settings)


def test_it_holds_until_something_changes(settings):
    prepared.remember(settings)
    assert prepared.holds(settings)
    assert prepared.holds(settings)


def change_code(settings):
    path = settings.code / "desk" / "demo.py"
    path.write_text("PEOPLE = 2\n")
    os.utime(path, ns=(1, 1))


def add_file(settings):
    (settings.code / "desk" / "new.py").touch()


def change_lock(settings):
    (settings.code / "requirements.txt").write_text("django==6\n")


def take_migration_back(settings):
    with sqlite3.connect(settings.database) as rows:
        rows.execute("DELETE FROM django_migrations")
    rows.close()


def lose_database(settings):
    settings.database.unlink()


def spoil_database(settings):
    settings.database.write_bytes(b"not a database at all")


def lose_static_files(settings):
    settings.STATIC_ROOT.rmdir()


def spoil_the_note(settings):
    (settings.DATA_DIR / "prepared.json").write_text("{half")


def move_elsewhere(settings):
    settings.DATABASES["default"]["ENGINE"] = "django.db.backends.postgresql"


def end_the_demo(settings):
    settings.DEMO = False


@pytest.mark.parametrize(
    "change",
    [
        change_code,
        add_file,
        change_lock,
        take_migration_back,
        lose_database,
        spoil_database,
        lose_static_files,
        spoil_the_note,
        move_elsewhere,
        end_the_demo,
    ],
)
def test_any_change_asks_for_a_new_preparation(settings, change):
    prepared.remember(settings)
    change(settings)
    assert not prepared.holds(settings)
