"""Which process a drill has stopped: a file in the folder of a rehearsal, written by the drill and obeyed by `up`.

The supervisor stops its own child of that name, so nothing else on the machine is ever touched. The file says until
when: a drill that is killed leaves nothing stopped for longer.
"""

import json
import math
import time
from pathlib import Path
from typing import Final

FILE_NAME: Final = "stopped.json"


def stop(folder: Path, name: str, *, seconds: float) -> None:
    """Have the process of this name (`manage.py up` prints it) stopped for at most so long."""
    beside = folder / f"{FILE_NAME}.part"
    beside.write_text(json.dumps({"name": name, "until": time.time() + seconds}))
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
    return name if math.isfinite(until) and time.time() < until else ""
