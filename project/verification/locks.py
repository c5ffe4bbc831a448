"""The locks: `manage.py lock` compiles them from the short list, `--check` says whether they still are that.

It also asks whether each lock can be installed, without building anything, by every Python that is promised for it: a
package whose newest version has no wheel for the oldest Python compiles well and installs nowhere that matters.
"""

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
    "requirements-demo.txt": ("--group", "pyproject.toml:demo", "--constraints", "requirements.txt"),
    "tests/requirements.txt": ("--group", "pyproject.toml:dev", "--constraints", "requirements.txt"),
    "tools/bench/requirements.txt": ("--group", "pyproject.toml:bench", "--constraints", "tests/requirements.txt"),
}
# What README promises. A peer of the tests, coincurve, has no wheel for 3.14.
PYTHONS = {
    "requirements.txt": ("3.11", "3.12", "3.13", "3.14"),
    "requirements-demo.txt": ("3.11", "3.12", "3.13", "3.14"),
    "tests/requirements.txt": ("3.11", "3.12", "3.13"),
    "tools/bench/requirements.txt": ("3.11", "3.12", "3.13"),
}
_PLATFORM = "x86_64-manylinux_2_28"
_UNREACHABLE = ("error sending request", "dns error", "failed to fetch", "connection", "timed out", "network")
# sysexits.h: a temporary failure; whoever calls decides what not having looked means.
_COULD_NOT_LOOK = 75


def main(arguments: list[str]) -> int:
    """Compile each lock, from its present versions on unless `--upgrade`; keep it, or with `--check` compare."""
    stale = []
    with tempfile.TemporaryDirectory() as folder:
        for lock, source in _SOURCES.items():
            compiled = Path(folder) / Path(lock).name
            if "--upgrade" not in arguments:
                shutil.copy(ROOT / lock, compiled)
            ended = subprocess.run(
                [_UV, "pip", "compile", *source, *_RULES, "--output-file", str(compiled)],
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=False,
            )
            if ended.returncode:
                return _complained(ended.stderr)
            if compiled.read_text() != (ROOT / lock).read_text():
                stale.append(lock)
                if "--check" not in arguments:
                    shutil.copyfile(compiled, ROOT / lock)
    if "--check" not in arguments:
        print(f"Written: {', '.join(stale) or 'nothing, all up to date'}.")
    elif stale:
        print(f"{', '.join(stale)} does not match pyproject.toml; run `make lock`.")
        return 1
    return _try_each()


def _try_each() -> int:
    """0 when every Python can install every lock that is promised to it."""
    for lock, pythons in PYTHONS.items():
        for python in pythons:
            complaint = cannot_install(ROOT / lock, python=python)
            if complaint:
                print(f"{lock} can't be installed by Python {python}:")
                return _complained(complaint)
    return 0


def cannot_install(lock: Path, *, python: str) -> str:
    """What keeps a Python ("3.11") on Linux and x86-64 from installing a lock from wheels alone; empty when nothing."""
    with tempfile.TemporaryDirectory() as folder:
        rules = ["--only-binary", ":all:", "--no-deps", "--require-hashes", "--requirements", str(lock)]
        place = ["--target", folder, "--python-version", python, "--python-platform", _PLATFORM]
        ended = subprocess.run(
            [_UV, "pip", "install", "--dry-run", "--quiet", *place, *rules], capture_output=True, text=True, check=False
        )
    return ended.stderr.strip() if ended.returncode else ""


def _complained(complaint: str) -> int:
    print(complaint.strip())
    return _COULD_NOT_LOOK if any(sign in complaint.lower() for sign in _UNREACHABLE) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
