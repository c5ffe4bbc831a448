"""Which process a drill has stopped: a file in the folder of a rehearsal, written by the drill and obeyed by `up`.

The supervisor stops its own child of that name, so nothing else on the machine is ever touched. The file says until
when: a drill that is killed leaves nothing stopped for longer.
"""

import json
from pathlib import Path
from typing import Final

from desk import clock

FILE_NAME: Final = "stopped.json"
LONGEST_S: Final = 3600.0  # what ends later was written before the clock fell back, or is odd


def stop(folder: Path, name: str, *, seconds: float) -> None:
    """Have the process of this name (`manage.py up` prints it) stopped for at most so long."""
    beside = folder / f"{FILE_NAME}.part"
    beside.write_text(json.dumps({"name": name, "until": clock.now().timestamp() + seconds}))
    beside.replace(folder / FILE_NAME)


def go_on(folder: Path) -> None:
    """Have it started again."""
    (folder / FILE_NAME).unlink(missing_ok=True)


def stopped(folder: Path) -> str:
    """The name of the process that is to be stopped now; empty where there is none, or the file is odd."""
    try:
        content = json.loads((folder / FILE_NAME).read_text())
        name, until = str(content["name"]), float(content["until"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    remaining_s = until - clock.now().timestamp()
    return name if 0 < remaining_s <= LONGEST_S else ""
