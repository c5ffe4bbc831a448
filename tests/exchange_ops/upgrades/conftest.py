"""A desk that was upgraded from a recorded version, in front of the sandbox as it stood then, at the time of then."""

import shutil
import time
from collections.abc import Callable, Iterator
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

_HEADS: dict[str, dict[str, str]] = {}  # by version the files of heads after its upgrade


@pytest.fixture(params=recording.versions())
def recorded(request: pytest.FixtureRequest) -> Recording:
    """Each version that there is a recording of."""
    return Recording.read(request.param)


@pytest.fixture
def upgraded(
    transactional_db: None, recorded: Recording, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Recording]:
    """The recorded database, brought to this version by the product's own command, as an upgrade does it.

    The desk's time goes on from where the recording ended.
    """
    settings.DEMO = False
    settings.KEY_RING, settings.SECRET_KEY = recorded.key_ring, recorded.secret_key
    settings.MFA_TOTP_TOLERANCE = 100
    own = connection.settings_dict["NAME"]
    try:
        _take(_prepared(recorded, own, settings), own)
        for name, text in _HEADS[recorded.version].items():
            Path(settings.DATA_DIR, name).write_text(text)
        _forget(settings)
        monkeypatch.setattr(clock, "now", _going_on(recorded.moment + timedelta(seconds=1)))
        yield recorded
    finally:
        _use(own)
        ContentType.objects.clear_cache()


def _going_on(moment: datetime) -> Callable[[], datetime]:
    """A clock that stands at the moment when it is made, and goes on from there."""
    begun = time.monotonic()
    return lambda: moment + timedelta(seconds=time.monotonic() - begun)


def _prepared(recorded: Recording, own: str, settings: Any) -> str:
    """The name of the database after the upgrade: made once in a process, while the time stands still, then copied."""
    name = _name(own, recorded.version.replace(".", "_"))
    if recorded.version not in _HEADS:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(clock, "now", lambda: recorded.moment)
            _use(name)
            _remove(name)
            _make(name)
            for file, text in recorded.heads.items():
                Path(settings.DATA_DIR, file).write_text(text)
            recording.load(recorded)
            _forget(settings)
            call_command("prepare", verbosity=0)
        _HEADS[recorded.version] = {file: Path(settings.DATA_DIR, file).read_text() for file in recorded.heads}
    return name


def _forget(settings: Any) -> None:
    """What this process and the broker know of another copy of the database."""
    signs._readers.clear()
    ContentType.objects.clear_cache()
    if key := signs._identity():
        signs._broker(settings.REDIS_URL).delete(key)


@pytest.fixture
def exchange(upgraded: Recording, settings: Any, tmp_path: Path) -> Iterator[Any]:
    """The sandbox of then, which lives its journal again."""
    from sandbox.serving import InProcessSandbox

    folder = tmp_path / "sandbox"
    folder.mkdir()
    (folder / "journal.jsonl").write_text(upgraded.journal)
    with InProcessSandbox(
        seed=1, still=True, data_dir=folder, now_ms=lambda: int(clock.now().timestamp() * 1_000)
    ) as server:
        assert server.world.warnings == []
        settings.EXCHANGE_URL = settings.CHAINDATA_URL = server.url
        settings.EXCHANGE_WS_URL = server.ws_url
        settings.EXCHANGE_CALLS_PER_SECOND = {"market": 100_000, "trading": 100_000, "other": 100_000}
        yield server


def _name(own: str, what: str) -> str:
    return f"{own}-{what}" if connection.vendor == "sqlite" else f"{own}_{what}"


def _use(name: str) -> None:
    """Turn to this database, and leave the one before."""
    connection.close()
    if connection.vendor == "postgresql":
        connection.close_pool()
    connection.settings_dict["NAME"] = name


def _take(source: str, own: str) -> None:
    """Turn to a fresh copy of the source."""
    copy = _name(own, "older")
    _use(copy)
    _remove(copy)
    if connection.vendor == "postgresql":
        _make(copy, template=source)
    else:
        shutil.copy(source, copy)


def _make(name: str, template: str = "template0") -> None:
    if connection.vendor == "postgresql":
        with connection._nodb_cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')


def _remove(name: str) -> None:
    if connection.vendor == "postgresql":
        with connection._nodb_cursor() as cursor:
            cursor.execute(f'DROP DATABASE IF EXISTS "{name}"')
        return
    for end in ("", "-wal", "-shm"):
        Path(f"{name}{end}").unlink(missing_ok=True)
