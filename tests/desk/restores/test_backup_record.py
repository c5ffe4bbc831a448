"""What is known of the last backup: made, failed, late, or not expected at all."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from desk import clock
from desk.restores import backup_record, backups
from desk.restores.models import BackupRecord

pytestmark = pytest.mark.django_db


def set_back(**columns: datetime) -> None:
    BackupRecord.objects.update(**columns)


def test_a_backup_that_fails_is_reported_with_its_reason_until_one_is_made(tmp_path: Path) -> None:
    (tmp_path / "full").write_text("a file where the folder of backups should be")
    now = clock.now()
    backup_record.success(now=now - timedelta(hours=5))
    with pytest.raises(backups.CannotBackUp):
        backups.back_up(tmp_path / "full" / "tonight", now=now)
    failed = backup_record.health()
    assert not failed.ok
    assert failed.sentence.startswith("Backup failed 0 s ago: The backup could not be written: ")
    assert failed.sentence.endswith("Last backup 5 h ago.")
    assert str(tmp_path) in failed.sentence
    assert str(tmp_path) not in failed.anonymous
    backup_record.success(now=now)
    assert (backup_record.health().ok, backup_record.health().sentence) == (True, "Last backup 0 s ago.")


def test_a_folder_that_is_there_already_is_no_failed_backup(tmp_path: Path) -> None:
    with pytest.raises(backups.CannotBackUp, match="already exists"):
        backups.back_up(tmp_path, now=clock.now())
    assert not BackupRecord.objects.exists()


def test_a_real_desk_expects_one_within_a_day_of_its_first_start_and_of_the_last(settings: Any) -> None:
    now = clock.now()
    assert backup_record.health().ok, "a demo: none is expected"
    backup_record.expect(now=now - timedelta(hours=25))
    backup_record.expect(now=now)  # each release is prepared; the first time counts
    assert backup_record.health().sentence == "No backup yet."
    set_back(since=now - timedelta(hours=27))
    late = "No backup yet; one is expected every 26 h. Check the backup job on the server."
    assert (backup_record.health().ok, backup_record.health().sentence) == (False, late)
    backup_record.success(now=now - timedelta(hours=25))
    assert backup_record.health().ok
    set_back(made_at=now - timedelta(hours=27))
    assert backup_record.health().sentence.startswith("Last backup 27 h ago; one is expected every 26 h.")
    set_back(made_at=now + timedelta(hours=1))
    assert not backup_record.health().ok, "made before the clock fell back: nobody knows how old it is"
    settings.BACKUP_OVERDUE_HOURS = 0
    assert backup_record.health().ok
