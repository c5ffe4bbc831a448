"""`python -m project.deployment.health_check`: whether the process of this container works; exit 0 when it does.

A process that gives signs of life is judged by the last one, any other by its own /healthz (standard library only).
"""

import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from project import environment

LONGEST_SILENCE_S = 45
_PATIENCE_S = 3


def main() -> int:
    """Look once, and say on standard error what is wrong."""
    #: A file that a process without a port touches every few seconds while it runs, or `1` for a line on standard
    #: output. Its container, or `manage.py up`, uses it to detect a hang. [default: not set]
    signs = os.environ.get("SIGNS_OF_LIFE", "")
    problem = _silence(Path(signs)) if signs.startswith("/") else _page()
    if problem:
        sys.stderr.write(f"{problem}\n")
    return 1 if problem else 0


def _silence(file: Path) -> str:
    try:
        age_s = time.time() - file.stat().st_mtime
    except FileNotFoundError:
        return "No heartbeat yet."
    return f"No heartbeat for {age_s:.0f} s." if age_s > LONGEST_SILENCE_S else ""


def _page() -> str:
    port = environment.integer("PORT", 8000, lowest=1, highest=65535)
    host = environment.own_name(environment.words("ALLOWED_HOSTS", "localhost"))
    request = urllib.request.Request(f"http://127.0.0.1:{port}/healthz", headers={"Host": host})
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE_S):  # noqa: S310  http to this container alone
            return ""
    except (urllib.error.URLError, OSError) as error:
        return f"/healthz is not responding: {error}"


if __name__ == "__main__":
    sys.exit(main())
