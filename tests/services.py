"""Servers before settings: a pytest plugin (`-p tests.services`) that gives a run its own database, Redis and folder.

PostgreSQL unless TEST_DATABASE=sqlite. With xdist the controller starts the one PostgreSQL, and every worker has its
own database in it (named by pytest-django), its own Redis and its own DATA_DIR. Whatever the shell says about
addresses and secrets is put aside, so that a test can never reach a running desk, let alone a real exchange.

TEST_DATABASE=none is for pure tests (`stages.PURE`, with `-p no:django`): no server is started, and in their process no
framework can be imported, so that a test that needs one is red at once and doesn't slow down thousands of others.
"""

import atexit
import base64
import importlib.machinery
import os
import secrets
import shutil
import sys
from collections.abc import Sequence
from types import ModuleType

import pytest

from tests import prepared_database, servers

_PUT_ASIDE = (
    "EXCHANGE_URL",
    "EXCHANGE_WS_URL",
    "EXCHANGE_PLACES",
    "EXPLORERS",
    "CHAINDATA_URL",
    "ALLOWED_HOSTS",
    "CSRF_TRUSTED_ORIGINS",
    "DESK_URL",
    "PORT",
    "SECRET_KEY",
    "KEY_RING",
    "SESSION_IDLE_SECONDS",
    "QUOTE_CURRENCY",
    "CHAIN_NETWORKS",
    "PAYOUT_PROOF_DEPTH",
)
_RING = "TEST_KEY_RING"
_FRAMEWORKS = ("celery", "channels", "django", "rest_framework")


class _NoFrameworks:
    """An importer that comes first and refuses every framework."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Nothing: either another importer knows the module, or it is refused."""
        if name.partition(".")[0] in _FRAMEWORKS:
            raise ImportError(f"A pure test imports {name}: it belongs into a folder that stages.PURE doesn't name.")
        return None


def _prepare_environment() -> None:
    kind = os.environ.get("TEST_DATABASE", "postgres")
    if kind not in {"postgres", "sqlite", "none"}:
        raise pytest.UsageError(f"TEST_DATABASE is {kind!r}; it takes postgres, sqlite or none.")
    for name in _PUT_ASIDE:
        os.environ.pop(name, None)
    folder = servers.make_folder()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["DATA_DIR"] = str(folder / "house")
    # Port 9 is nobody's: what forgets to point at the test's own sandbox is refused at once.
    os.environ |= {"DEMO": "1", "SANDBOX_PORT": "9", "DJANGO_ALLOW_ASYNC_UNSAFE": "true"}
    if kind == "none":
        sys.meta_path.insert(0, _NoFrameworks())
        return
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    if not is_worker:
        os.environ[prepared_database.FOLDER] = str(_inside(folder, "prepared"))
        os.environ[_RING] = _ring()
    _keep_ring(_inside(folder, "house"))
    try:
        if kind == "sqlite":
            os.environ["DATABASE_URL"] = f"sqlite:///{folder / 'desk.sqlite3'}"
        elif not is_worker:
            database = servers.Postgres(_inside(folder, "postgres"))
            atexit.register(database.stop)
            os.environ["DATABASE_URL"] = database.url
        broker = servers.Redis(_inside(folder, "redis"))
    except servers.CannotServe as error:
        raise pytest.UsageError(f"{error} TEST_DATABASE=sqlite runs the tests without PostgreSQL.") from None
    atexit.register(broker.stop)
    os.environ["REDIS_URL"] = broker.url


def _ring() -> str:
    """A new one for the run; where the migrated database is kept for the next run, the one under which it is signed."""
    made = f"test:{base64.b64encode(secrets.token_bytes(32)).decode()}"
    if not (kept := os.environ.get(prepared_database.KEPT)):
        return made
    path = servers.Path(kept) / "key-ring"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_text(made)
    return path.read_text()


def _keep_ring(folder: servers.Path) -> None:
    """One ring for all workers of a run: what is witnessed in the database that they copy is signed under it."""
    path = folder / "key-ring"
    path.touch(mode=0o600)
    path.write_text(os.environ[_RING])


def _inside(folder: servers.Path, name: str) -> servers.Path:
    made = folder / name
    made.mkdir(mode=0o700)
    return made


_prepare_environment()


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Where pytest-django is left out, its settings in pyproject.toml are known all the same."""
    if pluginmanager.is_blocked("django"):
        for name in ("DJANGO_SETTINGS_MODULE", "django_find_project"):
            parser.addini(name, "for pytest-django")


def pytest_report_header() -> str:
    """One line of the run's head: which database it is about."""
    if "DATABASE_URL" not in os.environ:
        return "no database, no frameworks"
    return f"database: {os.environ['DATABASE_URL'].split(':', 1)[0]}, redis: private, folder: {os.environ['DATA_DIR']}"
