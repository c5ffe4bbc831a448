"""What is verified, in which order: cheap and telling first, the whole house last.

`make test` proves every promise once (`stages`); `make thorough` runs everything whole, a part of it at a time
(`thorough_stages`). tests/selection.py says which tests that means.
"""

import base64
import os
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from project.bootstrap import ROOT

_BIN = Path(sys.executable).parent
_PYTHON = sys.executable
_MANAGE = (_PYTHON, "manage.py")
_PYTEST = (_PYTHON, "-m", "pytest", "-q", "--durations", "10", "--durations-min", "5")
_PURE_PYTEST = (*_PYTEST, "-p", "no:django")
_TWO = ("-n", "2", "--dist", "worksteal")
# One worker has the tests of the shared house (tests/conftest.py), the other those with rows of their own.
_ONE_HOUSE = ("-n", "2", "--dist", "loadgroup")
_WAITS = 0.5  # of a core, where processes wait for a browser, a house or a registry; more stages at once cost more CPU
DIRECT = "not browser and not house"
# Folders of tests that need neither Django nor a database, and so run where neither can be had (tests/services.py).
PURE = {
    "sandbox tests": ("tests/sandbox",),
    "wire tests": ("tests/wire", "tests/chaindata/wire", "tests/exchange_ops/wire", "tests/sandbox/chain"),
}
# Where tests of each mark are: collecting all others takes longer than many a stage. A test holds it to be whole.
ROOMS = {
    "engine": ("tests/chaindata", "tests/desk", "tests/exchange_ops", "tests/money", "tests/project"),
    "house": ("tests/project/test_up.py", "tests/project/rehearsal/test_whole.py"),
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
    cores: float = 1
    # Names of the stages whose end it waits for, where they run at all.
    after: tuple[str, ...] = ()
    # An exit code by which the command says that it could not look, and why that is no failure.
    cannot_look: int | None = None
    # An exit code by which it says that nothing was asked of it.
    empty: int | None = None

    @property
    def runs_tests(self) -> bool:
        """Whether it is a run of pytest, whose tests are counted one by one."""
        return "pytest" in self.command


def stages(folder: Path, *, turn: int = 0) -> tuple[Stage, ...]:
    """Every stage of `make test`; `folder` takes what they write, `turn` says which part of thorough comes in turn."""
    here = _in(folder / "here")
    usual = {"TESTS_DEPTH": "usual", "TESTS_TURN": str(turn)}
    return (
        # It may have to be fetched, like what the locks are compared with: others go on meanwhile.
        Stage("browser", (_PYTHON, "-m", "tests.browsers"), needs_servers=True, cores=_WAITS),
        Stage("locks", (*_MANAGE, "lock", "--check"), cannot_look=75, cores=_WAITS),
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
        # The longest first, with two workers each.
        desk_tests(
            "browser tests",
            *_marked("browser"),
            *_ONE_HOUSE,
            cores=_WAITS,
            after=("browser",),
            environment=usual,
        ),
        desk_tests("tests", *_but_others("tests"), "-m", DIRECT, *_TWO, environment=usual),
        # It starts on both databases, and on the real one only where there is one.
        desk_tests("house", *_marked("house", "not browser"), database="postgres", cores=_WAITS, environment=usual),
        desk_tests(
            "tests on postgresql",
            *_but_others(*ROOMS["engine"]),
            *("-m", DIRECT, *_TWO),
            database="postgres",
            environment=usual,
        ),
        # In one process, because workers cost more than these thousands of tests do.
        pure_tests("wire tests", *_but_others(*PURE["wire tests"]), "-p", "no:xdist", environment=usual),
        pure_tests("sandbox tests", *_but_others(*PURE["sandbox tests"]), *_TWO, environment=usual),
    )


def thorough_stages(shard: str) -> tuple[Stage, ...]:
    """Every test whole, on both databases, with the thorough figures; `shard` ("2/4") is one part of it."""
    variables = {"TESTS_DEPTH": "whole", "TESTS_SHARD": shard, "HYPOTHESIS_PROFILE": "thorough", **THOROUGH}
    direct = (*_but_others("tests"), "-m", DIRECT, *_TWO)
    whole_stages = (
        pure_tests("wire tests", *_but_others(*PURE["wire tests"]), *_TWO, environment=variables),
        pure_tests("sandbox tests", *_but_others(*PURE["sandbox tests"]), *_TWO, environment=variables),
        desk_tests("tests", *direct, environment=variables),
        desk_tests("tests on postgresql", *direct, database="postgres", environment=variables),
        desk_tests("house", *_marked("house", "not browser"), database="postgres", environment=variables),
        Stage("browser", (_PYTHON, "-m", "tests.browsers"), needs_servers=True),
        desk_tests("browser tests", *_marked("browser"), *_TWO, after=("browser",), environment=variables),
    )
    # A small part may hold no test of a stage.
    return tuple(replace(stage, empty=5) if stage.runs_tests else stage for stage in whole_stages)


# What tests read from the environment that makes them larger.
THOROUGH = {
    "CHAOS_TRANSACTIONS": "5000",
    "CHAOS_BREAKS": "200",
    "SCHEDULES": "500",
    "PRESSES": "1000",
    "MAILS": "10000",
    "BACKUPS": "12",
    "MOVEMENTS": "20000",
}


def desk_tests(
    name: str,
    *options: str,
    database: str = "sqlite",
    cores: float = 1,
    after: tuple[str, ...] = (),
    environment: Mapping[str, str],
) -> Stage:
    """A stage of tests with Django on this database."""
    surroundings = {"TEST_DATABASE": database, "CI": "true", **environment}
    return Stage(name, (*_PYTEST, *options), surroundings, needs_servers=True, cores=cores, after=after)


def pure_tests(name: str, *options: str, cores: float = 1, environment: Mapping[str, str]) -> Stage:
    """A stage of tests where neither Django nor a database can be had."""
    surroundings = {"TEST_DATABASE": "none", "CI": "true", **environment}
    return Stage(name, (*_PURE_PYTEST, *options), surroundings, needs_servers=True, cores=cores)


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
