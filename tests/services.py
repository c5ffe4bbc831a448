"""Servers before settings: a pytest plugin (`-p tests.services`) that gives a run its own database, Redis and folder.

PostgreSQL unless TEST_DATABASE=sqlite. With xdist the controller starts the one PostgreSQL, and every worker has its
own database in it (named by pytest-django), its own Redis and its own DATA_DIR. Whatever the shell says about
addresses and secrets is put aside, so that a test can never reach a running desk, let alone a real exchange.
"""

import atexit
import os
import shutil

import pytest

from tests import servers

_PUT_ASIDE = (
    "EXCHANGE_URL",
    "EXCHANGE_WS_URL",
    "CHAINDATA_URL",
    "ALLOWED_HOSTS",
    "CSRF_TRUSTED_ORIGINS",
    "SECRET_KEY",
    "KEY_RING",
    "SESSION_IDLE_SECONDS",
    "QUOTE_CURRENCY",
    "CHAIN_NETWORKS",
    "PAYOUT_PROOF_DEPTH",
)


def _prepare_environment() -> None:
    kind = os.environ.get("TEST_DATABASE", "postgres")
    if kind not in {"postgres", "sqlite"}:
        raise pytest.UsageError(f"TEST_DATABASE is {kind!r}; it takes postgres or sqlite.")
    for name in _PUT_ASIDE:
        os.environ.pop(name, None)
    folder = servers.make_folder()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["DATA_DIR"] = str(folder / "house")
    # Port 9 is nobody's: what forgets to point at the test's own sandbox is refused at once.
    os.environ |= {"DEMO": "1", "SANDBOX_PORT": "9", "DJANGO_ALLOW_ASYNC_UNSAFE": "true"}
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
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


def _inside(folder: servers.Path, name: str) -> servers.Path:
    made = folder / name
    made.mkdir(mode=0o700)
    return made


_prepare_environment()


def pytest_report_header() -> str:
    """One line of the run's head: which database it is about."""
    return f"database: {os.environ['DATABASE_URL'].split(':', 1)[0]}, redis: private, folder: {os.environ['DATA_DIR']}"
