"""When the last backup was made, as `manage.py backup` records it, and whether the next one is late.

Cron reports a failed backup to the mail of its own machine, and one that never ran to nobody. So the desk keeps one row
about it, which is a check of readiness and an incident.
"""

from datetime import datetime, timedelta
from typing import Final

from django.conf import settings

from desk import clock
from desk.restores.models import BackupRecord
from desk.rooms import Health
from desk.templatetags.desk import span

_ONE_ROW: Final = 1
_PROBLEM: Final = BackupRecord._meta.get_field("problem").max_length or 0
_PUBLIC: Final = "The last backup failed or is overdue."


def expect(*, now: datetime) -> None:
    """Backups are expected from now on, where they are not yet: `manage.py prepare` of a real desk says so."""
    BackupRecord.objects.get_or_create(pk=_ONE_ROW, defaults={"since": now})
    BackupRecord.objects.filter(pk=_ONE_ROW, since=None).update(since=now)


def success(*, now: datetime) -> None:
    """A backup begun at `now` is complete."""
    _write(made_at=now, tried_at=now, problem="")


def failure(problem: str, *, now: datetime) -> None:
    """A backup begun at `now` was not made; the last complete one stays on record."""
    _write(tried_at=now, problem=problem[:_PROBLEM])


def health() -> Health:
    """Whether the last backup was made, and is at most BACKUP_OVERDUE_HOURS old."""
    row, now = BackupRecord.objects.filter(pk=_ONE_ROW).first(), clock.now()
    if row is None:
        return Health(ok=True, sentence="No backup yet.", public="No backup yet.")
    last = "No backup yet" if row.made_at is None else f"Last backup {_ago(row.made_at, now)}"
    age_s = None if row.made_at is None else abs(now - row.made_at).total_seconds()
    if row.problem:
        sentence = f"Backup failed {_ago(row.tried_at, now)}: {row.problem.rstrip('.')}. {last}."
        return Health(ok=False, sentence=sentence, age_s=age_s, public=_PUBLIC)
    if is_overdue(row, now):
        expected = f"one is expected every {settings.BACKUP_OVERDUE_HOURS} h. Check the backup job on the server."
        return Health(ok=False, sentence=f"{last}; {expected}", age_s=age_s, public=_PUBLIC)
    return Health(ok=True, sentence=f"{last}.", age_s=age_s, public=f"{last}.")


def is_overdue(row: BackupRecord, now: datetime) -> bool:
    """Whether backups are expected and the last one, or the time since when they are, is too long ago."""
    hours = settings.BACKUP_OVERDUE_HOURS
    if not hours or row.since is None:
        return False
    return not clock.is_fresh(row.made_at or row.since, now, within=timedelta(hours=hours))


def _ago(moment: datetime | None, now: datetime) -> str:
    return f"{span(abs(now - (moment or now)))} ago"


def _write(**columns: object) -> None:
    BackupRecord.objects.update_or_create(pk=_ONE_ROW, defaults=columns)
