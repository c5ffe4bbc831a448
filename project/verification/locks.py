"""The locks: `manage.py lock` compiles them from the short list, `--check` says whether they still are that."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from project.bootstrap import ROOT

_UV = str(Path(sys.executable).parent / "uv")
_RULES = (
    "--universal",
    "--python-version",
    "3.11",
    "--generate-hashes",
    "--quiet",
    "--custom-compile-command",
    "make lock",
)
_SOURCES = {
    "requirements.txt": ("pyproject.toml",),
    "tests/requirements.txt": ("--group", "pyproject.toml:dev", "--constraints", "requirements.txt"),
    "bench/requirements.txt": ("--group", "pyproject.toml:bench", "--constraints", "tests/requirements.txt"),
}
_UNREACHABLE = ("error sending request", "dns error", "failed to fetch", "connection", "timed out", "network")
# sysexits.h: a temporary failure; whoever calls decides what not having looked means.
_COULD_NOT_LOOK = 75


def main(arguments: list[str]) -> int:
    """Compile each lock, from its present versions on unless `--upgrade`; keep it, or with `--check` compare."""
    stale = []
    with tempfile.TemporaryDirectory() as folder:
        for lock, source in _SOURCES.items():
            made = Path(folder) / Path(lock).name
            if "--upgrade" not in arguments:
                shutil.copy(ROOT / lock, made)
            ended = subprocess.run(
                [_UV, "pip", "compile", *source, *_RULES, "--output-file", str(made)],
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=False,
            )
            if ended.returncode:
                print(ended.stderr.strip())
                away = any(sign in ended.stderr.lower() for sign in _UNREACHABLE)
                return _COULD_NOT_LOOK if away else 1
            if made.read_text() != (ROOT / lock).read_text():
                stale.append(lock)
                if "--check" not in arguments:
                    shutil.copyfile(made, ROOT / lock)
    if "--check" not in arguments:
        print(f"Written: {', '.join(stale) or 'nothing, all were fresh'}.")
        return 0
    if stale:
        print(f"{', '.join(stale)} is not what pyproject.toml compiles to; run `make lock`.")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
