"""`manage.py rehearse`: a second desk on a sandbox of this desk's own figures, in a folder and on ports of its own.

Each part runs in a process with the settings that it needs: this desk's figures are read with this desk's, everything
else gets the rehearsal's, of which none comes from this environment but the few named in `_PASSED_ON`.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NoReturn

from project import environment
from project.bootstrap import ROOT
from project.rehearsal import marks
from project.supervisor.instance_lock import CannotClaim, Claim

PORT, SANDBOX_PORT = 8080, 8180
# As in `exchange_ops/rehearsals/drills/table.py`, which can't be read without the settings of a desk.
DRILLS: Final = (
    *("exchange-silent", "answer-lost", "foreign-payout", "chain-reorganised", "key-revoked"),
    *("approvers-absent", "broker-dead", "backup-restored"),
)
_MANAGE: Final = str(ROOT / "manage.py")
# What a program needs of the machine. Everything that says something about the first desk stays behind.
_PASSED_ON: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ", "USER", "LOG_LEVEL", "VIRTUAL_ENV")


def main(arguments: Sequence[str]) -> int:
    """Start or resume the rehearsal, or do one thing on one that is there; the exit status."""
    options = _parser().parse_args(arguments)
    folder = _folder(options.folder)
    if options.port == options.sandbox_port or {options.port, options.sandbox_port} & _own_ports():
        sentence = "The rehearsal needs two ports that this desk does not use: set --port and --sandbox-port."
        print(sentence, file=sys.stderr)
        return 2
    try:
        if options.drill or options.report:
            return _beside(folder, options)
        return _run(folder, options)
    except (marks.CannotUseFolder, CannotClaim) as problem:
        print(problem, file=sys.stderr)
        return 1


def settings_of(folder: Path, *, port: int, sandbox_port: int, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of every process of the rehearsal: nothing of the first desk's is in it."""
    passed_on = {name: environ[name] for name in _PASSED_ON if name in environ}
    ports = {"PORT": str(port), "SANDBOX_PORT": str(sandbox_port)}
    return {**passed_on, **ports, "DATA_DIR": str(folder), "DEMO": "1"}


def _run(folder: Path, options: argparse.Namespace) -> int:
    marks.make(folder)
    claim = Claim(folder)
    claim.acquire(port=options.port, sandbox_port=options.sandbox_port)
    try:
        if not _has_figures(folder, fresh=options.fresh):
            return 1
    finally:
        claim.release()
    return _become(folder, options, "-m", "project.rehearsal.house")


def _has_figures(folder: Path, *, fresh: bool) -> bool:
    """Whether the folder has figures to start from: those of before or, where there are none, this desk's of now."""
    figures, newer = folder / marks.FIGURES, folder / f"new-{marks.FIGURES}"
    if figures.exists() and not fresh:
        print(f"Resuming the rehearsal in {folder}; --fresh begins a new one with today's figures.", flush=True)
        return True
    # With this desk's own settings: the only step that reads its rows.
    written = subprocess.run([sys.executable, _MANAGE, "rehearsal", "write", str(newer)], check=False)
    if written.returncode:
        return False
    marks.clear(folder, keep=newer.name)
    newer.replace(figures)
    return True


def _beside(folder: Path, options: argparse.Namespace) -> int:
    """A drill or the report of a rehearsal that is there already."""
    if not marks.is_marked(folder):
        raise marks.CannotUseFolder(f"There is no rehearsal in {folder}. Start one with manage.py rehearse.")
    step = ["drill", options.drill] if options.drill else ["report", *(["--json"] if options.json else [])]
    return _become(folder, options, _MANAGE, "rehearsal", *step)


def _become(folder: Path, options: argparse.Namespace, *words: str) -> NoReturn:
    """Replace this process by a program of the rehearsal."""
    of_rehearsal = settings_of(folder, port=options.port, sandbox_port=options.sandbox_port, environ=os.environ)
    os.chdir(ROOT)  # where the modules are
    os.execve(sys.executable, [sys.executable, *words], of_rehearsal)


def _folder(named: Path | None) -> Path:
    if named is not None:
        return named.expanduser().absolute()
    data_dir = os.environ.get("DATA_DIR", "").strip()
    own = Path(data_dir).expanduser().absolute() if data_dir else ROOT / "var"
    return own.with_name(f"{own.name}-rehearsal")


def _own_ports() -> set[int]:
    return {
        environment.integer("PORT", 8000, lowest=1, highest=65535),
        environment.integer("SANDBOX_PORT", 8100, lowest=1, highest=65535),
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="manage.py rehearse",
        description="A second desk on a sandbox with this desk's own figures, for trying rules and training people.",
    )
    parser.add_argument("--folder", type=Path, help="its folder (default: DATA_DIR with -rehearsal after it)")
    parser.add_argument("--port", type=_port, default=PORT, help="port of the second desk (default %(default)s)")
    parser.add_argument(
        "--sandbox-port", type=_port, default=SANDBOX_PORT, help="port of its sandbox (default %(default)s)"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--fresh", action="store_true", help="delete the rehearsal in the folder and begin a new one")
    what.add_argument(
        "--drill",
        metavar="NAME",
        choices=DRILLS,
        help=f"cause trouble in the running rehearsal and report on it: {', '.join(DRILLS)}",
    )
    what.add_argument("--report", action="store_true", help="say how long people took, by payout and by drill")
    parser.add_argument("--json", action="store_true", help="the report as JSON")
    return parser


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 1 to 65535")
    return int(text)
