"""Whether the last preparation still holds, so that a second start can leave it out (standard library only).

It holds while no file of ours has changed and the database has exactly the migrations it had then. Only the embedded
SQLite is asked; another database is prepared at every start.
"""

import hashlib
import json
import sqlite3
from pathlib import Path
from types import ModuleType

from project.bootstrap import ROOT

_WATCHED = ("wire", "project", "desk", "exchange_ops", "chaindata", "static", "requirements.txt")
_MARK = "prepared.json"


def holds(settings: ModuleType) -> bool:
    """Whether rows and static files are as the last preparation left them, and as this code wants them."""
    mark_path = settings.DATA_DIR / _MARK
    now = _mark(settings)
    try:
        return now is not None and json.loads(mark_path.read_text()) == now and settings.STATIC_ROOT.is_dir()
    except (OSError, ValueError):
        return False


def remember(settings: ModuleType) -> None:
    """Note what a preparation that has just succeeded was about."""
    mark = _mark(settings)
    if mark is not None:
        (settings.DATA_DIR / _MARK).write_text(json.dumps(mark))


def _mark(settings: ModuleType) -> dict[str, str] | None:
    database = settings.DATABASES["default"]
    if not database["ENGINE"].endswith("sqlite3") or not Path(database["NAME"]).exists():
        return None
    try:
        with sqlite3.connect(f"file:{Path(database['NAME']).as_posix()}?mode=ro", uri=True) as rows:
            applied = rows.execute("SELECT app, name FROM django_migrations ORDER BY app, name").fetchall()
    except sqlite3.Error:
        return None
    return {
        "code": _code(),
        "migrations": hashlib.sha256(repr(applied).encode()).hexdigest(),
        "database": str(database["NAME"]),
        "demo": str(settings.DEMO),
    }


def _code() -> str:
    """A fingerprint of names, sizes and times: reading every file would cost more than it saves."""
    mark = hashlib.sha256(str(ROOT).encode())
    for top in _WATCHED:
        start = ROOT / top
        for path in sorted(start.rglob("*")) if start.is_dir() else [start]:
            if path.is_file() and path.suffix != ".pyc":
                status = path.stat()
                mark.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return mark.hexdigest()
