"""The data folder is its user's alone: what is made there from now on, and what lay there before."""

import os
import sqlite3
import stat
import subprocess
import sys

import pytest

from project import environment
from tests.project.test_environment import ROOT, read_settings


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch):
    monkeypatch.delenv("DATA_DIR")


@pytest.fixture
def open_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def old_folder(tmp_path, open_umask):
    """A data folder as an earlier release left it: 0644 in 0755."""
    folder = tmp_path / "var"
    (folder / "sandbox").mkdir(parents=True)
    for name in ("desk.sqlite3", "desk.sqlite3-wal", "sandbox/journal"):
        (folder / name).write_text("session keys")
    (folder / "program").write_text("")
    (folder / "program").chmod(0o755)
    assert mode(folder / "desk.sqlite3") == 0o644
    return folder


def test_what_lay_there_before_is_mended(old_folder):
    environment.folder("DATA_DIR", old_folder)
    assert {mode(each) for each in (old_folder, old_folder / "sandbox", old_folder / "program")} == {0o700}
    assert {mode(old_folder / each) for each in ("desk.sqlite3", "desk.sqlite3-wal", "sandbox/journal")} == {0o600}


def test_links_are_not_followed_and_nothing_outside_is_touched(old_folder, tmp_path):
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (outside / "file").write_text("")
    (old_folder / "to-folder").symlink_to(outside)
    (old_folder / "to-file").symlink_to(outside / "file")
    (old_folder / "to-nothing").symlink_to(outside / "gone")
    environment.folder("DATA_DIR", old_folder)
    assert mode(outside) == 0o755
    assert mode(outside / "file") == 0o644


def test_an_open_key_ring_is_left_for_its_own_check(old_folder):
    (old_folder / "key-ring").write_text("")
    environment.folder("DATA_DIR", old_folder)
    assert mode(old_folder / "key-ring") == 0o644


@pytest.mark.parametrize("name", ["", "desk.sqlite3"])
def test_what_is_somebody_elses_stops_the_start(old_folder, name, monkeypatch):
    strangers = (old_folder / name).lstat().st_ino
    real_stat = os.stat

    def of_a_stranger(found):
        return os.stat_result((*found[:4], os.geteuid() + 1, *found[5:])) if found.st_ino == strangers else found

    monkeypatch.setattr(os, "stat", lambda *arguments, **options: of_a_stranger(real_stat(*arguments, **options)))
    with pytest.raises(environment.OddSetting, match="belongs to another user, who could read"):
        environment.folder("DATA_DIR", old_folder)


def test_a_folder_for_everybody_is_no_data_folder(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    with pytest.raises(environment.OddSetting, match="its own folder"):
        environment.folder("DATA_DIR", shared)
    assert mode(shared) == 0o777 | stat.S_ISVTX


@pytest.mark.usefixtures("open_umask")
def test_every_process_with_the_settings_makes_files_that_are_its_own(tmp_path):
    made = tmp_path / "var" / "made"
    code, _, complaint = read_settings(tmp_path, f"open({str(made)!r}, 'w').close()")
    assert (code, complaint) == (0, "")
    assert (mode(made), mode(tmp_path / "var")) == (0o600, 0o700)


@pytest.mark.usefixtures("open_umask")
def test_the_embedded_database_and_what_sqlite_puts_beside_it_are_private(tmp_path):
    code = (
        "import django; django.setup(); from django.db import connection as rows; c = rows.cursor(); "
        "c.execute('CREATE TABLE t (x)'); import os, stat; "
        "print(sorted({oct(e.stat().st_mode & 0o77) for e in os.scandir(os.environ['DATA_DIR'])}))"
    )
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    members = {"DATA_DIR": str(tmp_path / "var"), "DJANGO_SETTINGS_MODULE": "project.settings"}
    ended = subprocess.run(
        [sys.executable, "-c", code], env=kept | members, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == "['0o0']"
    sqlite3.connect(tmp_path / "var" / "desk.sqlite3").close()
