"""One migrated database for all workers of a run: the first that needs one makes it, every other one takes a copy.

To migrate takes a worker seconds, to copy a fraction of one. Who runs the tests again and again names a folder
in `TEST_PREPARED_KEPT`: there SQLite's is kept from run to run, for as long as no migration changes.
"""

import fcntl
import hashlib
import os
import shutil
from pathlib import Path
from typing import Any

FOLDER = "TEST_PREPARED"  # the environment's name for the folder that the workers of a run share
KEPT = "TEST_PREPARED_KEPT"  # the environment's name for a folder that outlives a run
_COPY = "prepared"
_HOUSE = Path(__file__).parents[1]


def unsynced(init_command: str) -> str:
    """What a connection to SQLite begins with, without waiting for the disk: nothing has to outlive a power cut here.

    What a killed process committed stays all the same.
    """
    changed = init_command.replace("synchronous=FULL", "synchronous=OFF")
    assert changed != init_command
    return changed


class PreparedDatabase:
    """This worker's part in it, between the settings and the set-up of its own database."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = -1
        self.is_copied = False

    @classmethod
    def of_this_run(cls) -> "PreparedDatabase":
        """One for a worker; in a run without workers there is nothing to share, unless it is kept for the next run."""
        if (kept := os.environ.get(KEPT)) and os.environ.get("TEST_DATABASE") == "sqlite":
            folder = Path(kept) / _digest_of_migrations()
            folder.mkdir(parents=True, exist_ok=True)
            return cls(folder)
        shared = "PYTEST_XDIST_WORKER" in os.environ and os.environ.get(FOLDER)
        return cls(Path(shared) if shared else None)

    def take(self, connection: Any) -> None:
        """Copy what another worker made, waiting for it; or hold the others off until `give`."""
        if self._folder is None:
            return
        self._lock = os.open(self._folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        if not (self._folder / "done").exists():
            return
        _COPYING[connection.vendor](connection, self._folder, back=True)
        self.is_copied = True
        self._release()

    def give(self, connection: Any) -> None:
        """Let the others copy the database that was just made, if they are held off."""
        if self._folder is None or self._lock < 0:
            return
        _COPYING[connection.vendor](connection, self._folder, back=False)
        (self._folder / "done").touch()
        self._release()

    def _release(self) -> None:
        os.close(self._lock)
        self._lock = -1


def _digest_of_migrations() -> str:
    """Differs as soon as a migration of ours does."""
    digest = hashlib.sha256()
    for path in sorted(_HOUSE.glob("*/migrations/**/*.py")):
        digest.update(str(path.relative_to(_HOUSE)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _copy_postgresql(connection: Any, folder: Path, *, back: bool) -> None:
    # Once it is set up, the settings name it; before, they have the name from which its own is made.
    own = connection.creation._get_test_db_name() if back else connection.settings_dict["NAME"]
    source, target = (_COPY, own) if back else (own, _COPY)
    # Nobody may be connected to what is copied.
    connection.close()
    connection.close_pool()
    with connection._nodb_cursor() as cursor:
        cursor.execute(f'CREATE DATABASE "{target}" TEMPLATE "{source}"')


def _copy_sqlite(connection: Any, folder: Path, *, back: bool) -> None:
    own, kept = Path(connection.creation._get_test_db_name()), folder / _COPY
    connection.close()  # what stood beside the file is in it then
    shutil.copy(*((kept, own) if back else (own, kept)))


_COPYING = {"postgresql": _copy_postgresql, "sqlite": _copy_sqlite}
