"""A backup of a desk and putting it back, by the two commands, each a process of its own as an administrator has it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import houses


@pytest.fixture
def folder() -> Path:
    made = houses.prepared_folder()
    if not (made / "desk.sqlite3").exists():
        assert command(made, "prepare").returncode == 0
    return made


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    environment |= houses.QUICK | {"DATA_DIR": str(folder)}
    line = [sys.executable, "manage.py", *arguments]
    return subprocess.run(line, cwd=houses.ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.thorough("six starts of a process; that a restored desk holds back what it sent is proven by its rows")
def test_what_comes_back_holds_and_says_that_it_was_put_back(folder, tmp_path):
    """One walk of both commands: a start of each costs seconds, so what they refuse is seen on the way."""
    backup = tmp_path / "backup"
    made = command(folder, "backup", str(backup))
    assert made.returncode == 0, made.stderr
    files = json.loads((backup / "manifest.json").read_text())["files"]
    assert set(files) == {"audit-heads.log", "desk.sqlite3", "row-heads.log"}

    refused = command(folder, "restore", str(backup))
    assert "The database is not empty" in refused.stderr
    for name in ("audit-heads.log", "row-heads.log"):
        (folder / name).unlink()  # another machine
    back = command(folder, "restore", str(backup), "--replace")
    assert back.returncode == 0, back.stdout + back.stderr
    assert "Nothing is sent until two treasurers have decided" in back.stdout
    audit = command(folder, "verify_audit", "--replay")
    assert audit.returncode == 0, audit.stdout
    assert list(folder.glob("before-restore-*/desk.sqlite3")), "the rows from before are kept"

    with (backup / "desk.sqlite3").open("ab") as changed:
        changed.write(b"x")
    assert "has changed since the backup was made" in command(folder, "restore", str(backup), "--replace").stderr
