"""Records a database of this version with rows in every state, for the upgrade tests of the next one. Run by hand:

    RECORD=0.8.0 TEST_DATABASE=sqlite .venv/bin/python -m pytest tests/exchange_ops/upgrades/record.py -n0

It writes `recordings/0.8.0.json.xz`. Everything is done by the version's own rooms and machines, in front of a sandbox,
so that trail, row entries and second factors are as that version makes them. See docs/recipes.md.
"""

import os
from pathlib import Path

import pytest

from desk import audit_check, clock, database_mark
from sandbox.serving import InProcessSandbox
from tests.exchange_ops.upgrades import company, every_state, recording, under_way

VERSION = os.environ.get("RECORD", "")
pytestmark = pytest.mark.skipif(not VERSION, reason="RECORD names the version that is recorded")


@pytest.fixture
def sandbox(settings, tmp_path):
    """A sandbox where nobody trades who isn't told to, and which writes down all that happens there."""
    with InProcessSandbox(seed=1, still=True, data_dir=tmp_path / "sandbox") as server:
        settings.EXCHANGE_URL = settings.CHAINDATA_URL = server.url
        settings.EXCHANGE_WS_URL = server.ws_url
        settings.EXCHANGE_CALLS_PER_SECOND = {"market": 100_000, "trading": 100_000, "other": 100_000}
        yield server


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(600)
def test_record(walk, moving, settings, tmp_path):
    """Fill a desk that is no demo, look that all of it is in order, and write it down."""
    settings.DEMO = False
    database_mark.prepare(now=clock.now())
    staff = every_state.Staff()
    every_state.fill(staff, walk)
    walk.read_ledger()
    under_way.payouts(walk)
    under_way.moves(moving)
    under_way.trades(walk)
    company.fill(staff, walk)
    assert audit_check.verify(replay=True) == []
    path = recording.FOLDER / f"{VERSION}.json.xz"
    path.parent.mkdir(exist_ok=True)
    size = written(settings, tmp_path / "sandbox" / "journal.jsonl").write(path)
    print(f"{path.name}: {size:,} bytes")
    assert size <= recording.MOST_BYTES


def written(settings, journal):
    """What stands in the database and beside it now."""
    folder = Path(settings.DATA_DIR)
    return recording.Recording(
        version=VERSION,
        written_at=clock.now().isoformat(timespec="microseconds"),
        key_ring=Path(settings.KEY_RING_FILE).read_text(),
        secret_key=settings.SECRET_KEY,
        migrations=recording.last_migrations(),
        tables=recording.tables(),
        heads={path.name: path.read_text() for path in sorted(folder.glob("*-heads.log"))},
        journal=journal.read_text(),
    )
