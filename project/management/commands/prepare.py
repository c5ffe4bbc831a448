"""`manage.py prepare`: rows and static files brought up to date before the house starts; safe to repeat."""

import hashlib
import json
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection


class Command(BaseCommand):
    """Migrate, make the cache's table, collect static files when they changed, and load the demo desk in the demo."""

    help = "Bring the database and the static files up to date, and load the demo desk when DEMO is on."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        _reach_database()
        call_command("migrate", interactive=False, verbosity=0)
        call_command("createcachetable", verbosity=0)
        _hold_mark()
        _collect_static()
        if settings.REHEARSAL:
            call_command("rehearsal", "load")
        elif settings.DEMO:
            call_command("load_demo")
            _tell_about_demo()


def _reach_database() -> None:
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise CommandError(f"The database in DATABASE_URL is not responding: {reason}") from None


def _hold_mark() -> None:
    from desk import clock, database_mark
    from desk.restores import backup_record, signs

    try:
        database_mark.prepare(now=clock.now())
        signs.check(now=clock.now())
        if not settings.DEMO:
            backup_record.expect(now=clock.now())
    except database_mark.WrongDatabase as reason:
        raise CommandError(str(reason)) from None


def _collect_static() -> None:
    """Collecting hashes and compresses every file, which takes seconds; the stamp says when nothing has changed."""
    stamp = settings.DATA_DIR / "static.stamp"
    mark = _static_mark()
    if stamp.exists() and stamp.read_text() == mark and settings.STATIC_ROOT.exists():
        return
    call_command("collectstatic", interactive=False, verbosity=0)
    stamp.write_text(mark)


def _static_mark() -> str:
    mark = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list(ignore_patterns=[]):
            location = storage.path(path)
            mark.update(f"{path}\0{storage.size(path)}\0{storage.get_modified_time(path)}\0{location}\n".encode())
    return mark.hexdigest()


def _tell_about_demo() -> None:
    """Leave for whoever started the house what a person needs to sign in to the demo."""
    from desk.people import demo

    facts = {"people": list(demo.PEOPLE), "password": demo.DEMO_PASSWORD, "totp_secret": demo.DEMO_TOTP_SECRET}
    (settings.DATA_DIR / "demo.json").write_text(json.dumps(facts))
