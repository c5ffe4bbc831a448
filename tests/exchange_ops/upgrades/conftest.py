"""A desk that was upgraded from a recorded version, in front of the sandbox as it stood then, at the time of then."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection

from desk import clock
from desk.restores import signs
from tests.exchange_ops.upgrades import recording
from tests.exchange_ops.upgrades.recording import Recording

_NAME = "older"


@pytest.fixture(params=recording.versions())
def recorded(request: pytest.FixtureRequest) -> Recording:
    """Each version that there is a recording of."""
    return Recording.read(request.param)


@pytest.fixture
def then(recorded: Recording, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`then()`: the time goes on from where the recording ended, for the desk and for whoever asks this function."""
    begun, moment = time.monotonic(), recorded.moment

    def now() -> datetime:
        return moment + timedelta(seconds=time.monotonic() - begun)

    monkeypatch.setattr(clock, "now", now)
    return now


@pytest.fixture
def upgraded(transactional_db: None, recorded: Recording, then: Any, settings: Any) -> Iterator[Recording]:
    """The recorded database, brought to this version by the product's own command, as an upgrade does it."""
    settings.DEMO = False
    settings.KEY_RING, settings.SECRET_KEY = recorded.key_ring, recorded.secret_key
    settings.MFA_TOTP_TOLERANCE = 100
    for name, text in recorded.heads.items():
        Path(settings.DATA_DIR, name).write_text(text)
    signs._readers.clear()
    ContentType.objects.clear_cache()
    with _database(_NAME):
        recording.load(recorded)
        if key := signs._identity():  # an earlier test let the broker know how far its own copy came
            signs._broker(settings.REDIS_URL).delete(key)
        call_command("prepare", verbosity=0)
        yield recorded
    ContentType.objects.clear_cache()


@pytest.fixture
def exchange(recorded: Recording, then: Any, settings: Any, tmp_path: Path) -> Iterator[Any]:
    """The sandbox of then, which lives its journal again."""
    from sandbox.serving import InProcessSandbox

    folder = tmp_path / "sandbox"
    folder.mkdir()
    (folder / "journal.jsonl").write_text(recorded.journal)
    with InProcessSandbox(seed=1, still=True, data_dir=folder, now_ms=lambda: int(then().timestamp() * 1000)) as server:
        assert server.world.warnings == []
        settings.EXCHANGE_URL = settings.CHAINDATA_URL = server.url
        settings.EXCHANGE_WS_URL = server.ws_url
        settings.EXCHANGE_CALLS_PER_SECOND = {"market": 100_000, "trading": 100_000, "other": 100_000}
        yield server


@contextmanager
def _database(name: str) -> Iterator[None]:
    """An empty database instead of the one of the tests, for as long as this lasts."""
    own = connection.settings_dict["NAME"]
    path = f"{own}-{name}" if connection.vendor == "sqlite" else f"{own}_{name}"
    _leave()
    _make(path)
    connection.settings_dict["NAME"] = path
    try:
        yield
    finally:
        _leave()
        connection.settings_dict["NAME"] = own
        _remove(path)


def _leave() -> None:
    connection.close()
    if connection.vendor == "postgresql":
        connection.close_pool()


def _make(path: str) -> None:
    _remove(path)
    if connection.vendor == "postgresql":
        with connection._nodb_cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{path}"')


def _remove(path: str) -> None:
    if connection.vendor == "postgresql":
        with connection._nodb_cursor() as cursor:
            cursor.execute(f'DROP DATABASE IF EXISTS "{path}"')
        return
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
