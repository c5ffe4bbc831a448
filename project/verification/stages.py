"""What is verified, in which order: cheap and telling first, the whole house last."""

import base64
import os
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from project.bootstrap import ROOT

_BIN = Path(sys.executable).parent
_PYTHON = sys.executable
_MANAGE = (_PYTHON, "manage.py")
_PYTEST = (_PYTHON, "-m", "pytest", "-q", "--durations", "10", "--durations-min", "5")
_PURE_PYTEST = (*_PYTEST, "-p", "no:django")
_SPREAD = ("-n", "4", "--dist", "worksteal")
_BUT_ONE = ("-n", "3", "--dist", "worksteal")
_EACH_CORE = ("-n", "2", "--dist", "worksteal")
DIRECT = "not browser and not house"
# Folders of tests that need neither Django nor a database, and so run where neither can be had (tests/services.py).
PURE = {
    "sandbox tests": ("tests/sandbox",),
    "wire tests": ("tests/wire", "tests/chaindata/wire", "tests/exchange_ops/wire", "tests/sandbox/chain"),
}
# Where tests of each mark are: collecting all others takes longer than many a stage. A test holds it to be whole.
ROOMS = {
    "rows": (
        "tests/chaindata/broadcasts",
        "tests/chaindata/cache",
        "tests/chaindata/views",
        "tests/chaindata/watching",
        "tests/desk",
        "tests/exchange_ops",
        "tests/money",
    ),
    "house": ("tests/project/test_up.py",),
    "browser": ("tests/desk", "tests/e2e", "tests/exchange_ops", "tests/project/test_live_desk.py"),
}


@dataclass(frozen=True, slots=True)
class Stage:
    """One check: a command that ends with 0 when it holds. `needs_servers` are left out by `verify --check`."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    needs_servers: bool = False
    # How many cores it keeps busy: so many other stages run beside it as there are cores left.
    cores: int = 1
    # Names of the stages whose end it waits for, where they run at all.
    after: tuple[str, ...] = ()
    # An exit code by which the command says that it could not look, and why that is no failure.
    cannot_look: int | None = None
    # An exit code by which it says that nothing was asked of it.
    empty: int | None = None


def stages(folder: Path) -> tuple[Stage, ...]:
    """Every stage; `folder` takes what they write."""
    here = _in(folder / "here")
    return (
        Stage("locks", (*_MANAGE, "lock", "--check"), cannot_look=75),
        Stage("lint", (_tool("ruff"), "check", ".")),
        Stage("format", (_tool("ruff"), "format", "--check", ".")),
        Stage("templates", (_tool("djade"), "--check", "--target-version", "5.2", *_templates())),
        # Beside the checks that follow; in one process, because workers cost more than these thousands of tests do.
        pure_tests("wire tests", *_but_others(*PURE["wire tests"]), "-p", "no:xdist"),
        Stage("types", (_tool("mypy"),), here),
        Stage("imports", (_tool("lint-imports"), "--no-cache")),
        Stage("migrations", (*_MANAGE, "makemigrations", "--check", "--dry-run"), here),
        Stage("deploy", (*_MANAGE, "check", "--deploy", "--fail-level", "WARNING"), _production(folder / "production")),
        Stage("api schema", (*_MANAGE, "spectacular", "--validate", "--fail-on-warn", "--file", os.devnull), here),
        Stage("compose", (_tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", "docker-compose.yml")),
        Stage("static files", (*_MANAGE, "collectstatic", "--no-input", "--verbosity", "0"), here),
        pure_tests("sandbox tests", *_but_others(*PURE["sandbox tests"]), *_EACH_CORE, cores=2),
        desk_tests("tests", *_but_others("tests"), "-m", DIRECT, *_SPREAD, cores=2),
        # The whole house mostly waits, and lets the rows on SQLite have the cores.
        desk_tests("tests on sqlite", *_marked("rows", DIRECT), *_BUT_ONE, database="sqlite", after=("tests",)),
        desk_tests("house", *_marked("house", "not browser"), after=("tests",)),
        Stage("browser", (_PYTHON, "-m", "tests.browsers"), needs_servers=True),
        desk_tests("browser tests", *_marked("browser"), *_EACH_CORE, cores=2, after=("browser",)),
    )


def desk_tests(
    name: str, *options: str, database: str = "postgres", cores: int = 1, after: tuple[str, ...] = ()
) -> Stage:
    """A stage of tests with Django on this database."""
    environment = {"TEST_DATABASE": database, "CI": "true"}
    return Stage(name, (*_PYTEST, *options), environment, needs_servers=True, cores=cores, after=after)


def pure_tests(name: str, *options: str, cores: int = 1) -> Stage:
    """A stage of tests where neither Django nor a database can be had."""
    environment = {"TEST_DATABASE": "none", "CI": "true"}
    return Stage(name, (*_PURE_PYTEST, *options), environment, needs_servers=True, cores=cores)


def _but_others(*folders: str) -> tuple[str, ...]:
    """The folders without those inside them that a pure stage of another name runs."""
    inside = [
        ("--ignore", other)
        for others in PURE.values()
        for other in others
        if other not in folders and any(other.startswith(f"{folder}/") for folder in folders)
    ]
    return (*folders, *(part for pair in inside for part in pair))


def _marked(mark: str, *more: str) -> tuple[str, ...]:
    """The tests of a mark, and further conditions on them."""
    return (*_but_others(*ROOMS[mark]), "-m", " and ".join((mark, *more)))


def _tool(name: str) -> str:
    return str(_BIN / name)


def _templates() -> list[str]:
    folders = [ROOT / "templates", *(ROOT / app / "templates" for app in ("desk", "exchange_ops", "chaindata"))]
    return sorted(str(path.relative_to(ROOT)) for folder in folders for path in folder.rglob("*.html"))


def _in(folder: Path) -> dict[str, str]:
    """The embedded default, on a folder of its own."""
    return {"DATA_DIR": str(folder), "DATABASE_URL": "", "REDIS_URL": "", "DEMO": "1", "LOG_LEVEL": "WARNING"}


def _production(folder: Path) -> dict[str, str]:
    """What going live sets, with secrets that were made up a moment ago."""
    return {
        "DATA_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder}/desk.sqlite3",
        "REDIS_URL": "rediss://broker.example/0",
        "EXCHANGE_URL": "https://exchange.example",
        "EXCHANGE_WS_URL": "wss://exchange.example",
        "CHAINDATA_URL": "https://chain.example",
        "DEMO": "0",
        "SECRET_KEY": secrets.token_urlsafe(60),
        "KEY_RING": f"check:{base64.b64encode(secrets.token_bytes(32)).decode()}",
        "ALLOWED_HOSTS": "desk.example",
        "LOG_LEVEL": "WARNING",
    }
