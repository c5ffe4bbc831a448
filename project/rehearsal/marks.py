"""The mark of a rehearsal's folder, and what a desk in such a folder may not have (standard library only).

The mark is a file, so whatever starts on the folder, however it was started, knows that it is a rehearsal.
"""

import json
import shutil
from pathlib import Path
from typing import Final

from project import environment
from project.environment import OddSetting

FILE_NAME: Final = "rehearsal.json"
# The figures of the first desk: their form is in `exchange_ops/rehearsals/files.py`.
FIGURES: Final = "figures.json"
_FORMAT: Final = "countersign-rehearsal-folder"
# Each of these could lead a rehearsal to something real: other systems, other rows, other people's mail.
_ELSEWHERE: Final = (
    *("EXCHANGE_URL", "EXCHANGE_WS_URL", "CHAINDATA_URL", "EXCHANGE_PLACES", "DATABASE_URL", "REDIS_URL", "EMAIL_URL"),
    *("SECRET_KEY", "KEY_RING", "OIDC_ISSUER", "WEBHOOK_PRIVATE_HOSTS", "EXPLORERS"),
)


class CannotUseFolder(Exception):
    """The folder is not a rehearsal's; the text is one sentence that says so."""


def is_marked(folder: Path) -> bool:
    """Whether the folder is a rehearsal's."""
    return (folder / FILE_NAME).is_file()


def require_apart(folder: Path) -> None:
    """Stop a start on a rehearsal's folder with settings that lead out of it."""
    named = [name for name in _ELSEWHERE if environment.is_set(name) or environment.is_set(f"{name}_FILE")]
    if named:
        raise OddSetting(
            f"{folder} is the folder of a rehearsal, and {named[0]} is set: a rehearsal uses its own sandbox, database "
            f"and broker only. Unset {named[0]}, or start it with manage.py rehearse."
        )
    if not environment.flag("DEMO", default=True):
        raise OddSetting(
            f"{folder} is the folder of a rehearsal, and DEMO is off: a rehearsal never runs as a real desk. Start it "
            "with manage.py rehearse."
        )


def make(folder: Path) -> None:
    """Make the folder, for its owner alone, and mark it. Raises CannotUseFolder for one that has other things in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if is_marked(folder):
            return
        if any(folder.iterdir()):
            raise CannotUseFolder(
                f"{folder} is not empty and no rehearsal's folder. Nothing was changed; choose another with --folder."
            )
        (folder / FILE_NAME).write_text(json.dumps({"format": _FORMAT, "version": 1}) + "\n")
    except OSError as problem:
        raise CannotUseFolder(
            f"{folder} can't be used: {problem.strerror}. Nothing was changed; choose another with --folder."
        ) from None


def clear(folder: Path, *, keep: str) -> None:
    """Delete everything in a rehearsal's folder but its mark and the file `keep`. Raises CannotUseFolder for any other.

    The mark stays all the while, so that a removal that was cut off can be repeated.
    """
    if not is_marked(folder) or folder.is_symlink():
        raise CannotUseFolder(f"{folder} is no rehearsal's folder. Nothing was deleted; choose another with --folder.")
    for entry in sorted(folder.iterdir()):
        if entry.name in {FILE_NAME, keep}:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
