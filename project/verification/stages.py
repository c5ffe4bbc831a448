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
_DIRECT = "not browser and not house"
# Where tests of each mark are: collecting all others takes longer than many a stage. A test holds it to be whole.
ROOMS = {
    "rows": ("tests/chaindata/domain", "tests/chaindata/views", "tests/desk", "tests/exchange_ops", "tests/money"),
    "house": ("tests/project/test_up.py",),
    "browser": ("tests/desk", "tests/e2e", "tests/exchange_ops/views", "tests/project/test_live_desk.py"),
}


@dataclass(frozen=True, slots=True)
class Stage:
    """One check: a command that ends with 0 when it holds. `needs_servers` are left out by `verify --check`."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    needs_servers: bool = False
    # An exit code by which the command says that it could not look, and why that is no failure.
    cannot_look: int | None = None


def stages(folder: Path) -> tuple[Stage, ...]:
    """Every stage; `folder` takes what they write."""
    here = _in(folder / "here")
    return (
        Stage("locks", (*_MANAGE, "lock", "--check"), cannot_look=75),
        Stage("lint", (_tool("ruff"), "check", ".")),
        Stage("format", (_tool("ruff"), "format", "--check", ".")),
        Stage("templates", (_tool("djade"), "--check", "--target-version", "5.2", *_templates())),
        Stage("types", (_tool("mypy"),), here),
        Stage("imports", (_tool("lint-imports"), "--no-cache")),
        Stage("migrations", (*_MANAGE, "makemigrations", "--check", "--dry-run"), here),
        Stage("deploy", (*_MANAGE, "check", "--deploy", "--fail-level", "WARNING"), _production(folder / "production")),
        Stage("api schema", (*_MANAGE, "spectacular", "--validate", "--fail-on-warn", "--file", os.devnull), here),
        Stage("compose", (_tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", "docker-compose.yml")),
        Stage("static files", (*_MANAGE, "collectstatic", "--no-input", "--verbosity", "0"), here),
        _tests("tests", "-m", _DIRECT, "-n", "4", "--dist", "worksteal"),
        _tests("tests on sqlite", *_marked("rows", _DIRECT), "-n", "4", "--dist", "worksteal", database="sqlite"),
        _tests("house", *_marked("house", "not browser")),
        Stage("browser", (_PYTHON, "-m", "tests.browsers"), needs_servers=True),
        _tests("browser tests", *_marked("browser"), "-n", "2", "--dist", "worksteal"),
    )


def _tests(name: str, *options: str, database: str = "postgres") -> Stage:
    return Stage(name, (*_PYTEST, *options), {"TEST_DATABASE": database, "CI": "true"}, needs_servers=True)


def _marked(mark: str, *more: str) -> tuple[str, ...]:
    """The tests of a mark, and further conditions on them."""
    return (*ROOMS[mark], "-m", " and ".join((mark, *more)))


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
