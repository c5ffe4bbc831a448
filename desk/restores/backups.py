"""Backs up a running desk into one folder, and puts a backup back.

The heads are copied before the rows. A head is written only after its row, so every head of the backup has its row, and
`verify_audit` holds after a restore. The rows are those of one moment. The key ring is not part of a backup: whoever
has both reads every secret, so keep it elsewhere.

After a backup was put back, the desk is told (`signs`) and sends nothing until two people have settled what waits. The
files of heads that are here stay: they show how much is lost.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection, connections

from desk import sealing
from desk.audit import heads, trail, witness_chain
from desk.models import RowWitness
from desk.restores import backup_record, signs

MANIFEST: Final = "manifest.json"
FORMAT: Final = 1
_CONTEXT: Final = "desk.backup"
_ROWS: Final = {"sqlite": "desk.sqlite3", "postgresql": "desk.dump"}
_HEADS: Final = (trail.HEADS_FILE, witness_chain.HEADS_FILE)
_CLAIM: Final = "up.json"  # locked by `manage.py up` as long as it runs
_PARTS: Final = ("", "-wal", "-shm")  # of a SQLite database


class CannotBackUp(Exception):
    """There is no backup; the text says why."""


class CannotRestore(Exception):
    """Nothing was put back, and nothing was changed; the text says why."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifest of a backup. `made_at` is when it was begun, in UTC; `files` are digests (SHA-256) by name.

    `code` authenticates all of that under the key ring: only a holder of the ring can make a backup, and it is put back
    only under the same ring.
    """

    format: int
    made_at: str
    engine: str
    files: dict[str, str]
    code: str = ""

    @property
    def content(self) -> bytes:
        """What the code is over."""
        return json.dumps(asdict(self) | {"code": ""}, sort_keys=True).encode()


def back_up(folder: Path, *, now: datetime) -> Manifest:
    """Make a backup in a folder that is not there yet, and record whether it was made (`backup_record`).

    The desk may go on working. A folder that is there already is a mistake in the command, and no failed backup: where
    a job always names the same one, the backup is overdue a day later. Raises CannotBackUp.
    """
    if folder.exists():
        raise CannotBackUp(f"{folder} already exists. Choose a new folder for the backup.")
    try:
        manifest = _write(folder, now)
    except CannotBackUp as problem:
        with contextlib.suppress(DatabaseError):  # a database that is down has reports of its own
            backup_record.failure(str(problem), now=now)
        raise
    try:
        backup_record.success(now=now)
    except DatabaseError as error:
        raise CannotBackUp(
            f"The backup in {folder} is complete, but the database did not record it ({_sentence(error)}), so it will "
            "be reported as overdue. Make the next one once the database is responding."
        ) from error
    return manifest


def _write(folder: Path, now: datetime) -> Manifest:
    """All files of a backup, under their name only once they are complete."""
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True, mode=0o700)
        for name in _HEADS:  # before the rows
            if (heads.folder() / name).exists():
                shutil.copyfile(heads.folder() / name, partial / name)
        _DUMPS[connection.vendor](partial / _ROWS[connection.vendor])
        manifest = Manifest(
            FORMAT,
            now.astimezone(UTC).isoformat(timespec="seconds"),
            connection.vendor,
            {path.name: _digest(path) for path in sorted(partial.iterdir())},
        )
        manifest = replace(manifest, code=sealing.authenticate(manifest.content, context=_CONTEXT))
        (partial / MANIFEST).write_text(json.dumps(asdict(manifest), indent=2) + "\n")
        partial.rename(folder)
    except (OSError, sqlite3.Error, subprocess.SubprocessError) as error:
        raise CannotBackUp(f"The backup could not be written: {_sentence(error)}") from error
    return manifest


def read(folder: Path) -> Manifest:
    """The manifest of a backup whose files match it. Raises CannotRestore."""
    try:
        members = json.loads((folder / MANIFEST).read_text())
        manifest = Manifest(**members)
        odd = [name for name, digest in manifest.files.items() if _digest(folder / name) != digest]
    except (OSError, ValueError, TypeError) as error:
        raise CannotRestore(f"{folder} is not a readable backup: {_sentence(error)}") from None
    if not sealing.is_authentic(manifest.code, manifest.content, context=_CONTEXT):
        raise CannotRestore(
            "The backup was made with a different key ring or has been altered. Use the key ring of the desk it "
            "was made on."
        )
    if odd:
        raise CannotRestore(f"{', '.join(odd)} in {folder} has changed since the backup was made.")
    if manifest.format != FORMAT:
        raise CannotRestore(f"The backup is in format {manifest.format}; this version reads format {FORMAT}.")
    if _ROWS.get(manifest.engine) not in manifest.files:
        raise CannotRestore("The backup contains no rows.")
    if manifest.engine != connection.vendor:
        raise CannotRestore(f"The backup is from {manifest.engine}, but DATABASE_URL names {connection.vendor}.")
    return manifest


def put_back(folder: Path, *, now: datetime, over_rows: bool = False) -> Manifest:
    """Put a backup back: the rows, the files of heads that are missing, and the notice to the desk.

    With `over_rows` the existing rows are moved aside first, into a folder named after the time (SQLite). A PostgreSQL
    database has to be empty. Raises CannotRestore.
    """
    manifest = read(folder)
    _LOADS[connection.vendor](folder / _ROWS[connection.vendor], now, over_rows)
    for name in _HEADS:
        if name in manifest.files and not (heads.folder() / name).exists():
            shutil.copyfile(folder / name, heads.folder() / name)
    call_command("migrate", interactive=False, verbosity=0)
    signs.restored(facts={"backup_of": manifest.made_at}, now=now)
    return manifest


def _dump_sqlite(target: Path) -> None:
    """SQLite's own online copy: the rows of one moment, while others write."""
    with closing(sqlite3.connect(_sqlite_path())) as source, closing(sqlite3.connect(target)) as copy:
        source.backup(copy)


def _dump_postgresql(target: Path) -> None:
    arguments = ["--format=custom", "--no-owner", "--no-privileges", f"--file={target}"]
    _run("pg_dump", arguments)


def _load_sqlite(source: Path, now: datetime, over_rows: bool) -> None:
    path = _sqlite_path()
    if is_running():
        raise CannotRestore(f"A desk is running on {heads.folder()}: stop it first.")
    if path.exists() and _has_rows() and not over_rows:
        raise CannotRestore("The database is not empty. Use --replace to move the existing database aside.")
    connections.close_all()
    aside = heads.folder() / f"before-restore-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    copy = path.with_name(f"{path.name}.partial")
    try:
        shutil.copyfile(source, copy)  # complete, before anything that is here moves
        for part in _PARTS:
            old = path.with_name(path.name + part)
            if old.exists():
                aside.mkdir(exist_ok=True, mode=0o700)
                old.rename(aside / old.name)
        copy.rename(path)
    except OSError as error:
        raise CannotRestore(f"The rows could not be restored: {_sentence(error)}") from error


def _load_postgresql(source: Path, now: datetime, over_rows: bool) -> None:
    if connection.introspection.table_names():
        raise CannotRestore("The database is not empty. Create an empty one and set DATABASE_URL to it.")
    connections.close_all()
    try:
        _run("pg_restore", ["--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error", str(source)])
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotRestore(f"pg_restore failed: {_sentence(error)}") from error


def _run(program: str, arguments: list[str]) -> None:
    """Run one of PostgreSQL's own programs; the password is passed in its environment."""
    values = connection.settings_dict
    command = [
        _program(program),
        f"--dbname={values['NAME']}",
        *([f"--host={values['HOST']}"] if values["HOST"] else []),
        *([f"--port={values['PORT']}"] if values["PORT"] else []),
        *([f"--username={values['USER']}"] if values["USER"] else []),
        *arguments,
    ]
    password = {"PGPASSWORD": str(values["PASSWORD"])} if values["PASSWORD"] else {}
    subprocess.run(command, env={**os.environ, **password}, check=True, capture_output=True, text=True)


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise OSError(f"{name} is not on the PATH; install the PostgreSQL client")
    return path


def is_running() -> bool:
    """Whether `manage.py up` holds this folder."""
    try:
        with (heads.folder() / _CLAIM).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _has_rows() -> bool:
    return bool(connection.introspection.table_names()) and RowWitness.objects.exists()


def _sqlite_path() -> Path:
    return Path(str(settings.DATABASES["default"]["NAME"]))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sentence(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        return str(error.stderr or error).strip()[:500]
    return str(error) or type(error).__name__


_DUMPS: Final = {"sqlite": _dump_sqlite, "postgresql": _dump_postgresql}
_LOADS: Final = {"sqlite": _load_sqlite, "postgresql": _load_postgresql}
