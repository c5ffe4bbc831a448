"""`manage.py rehearsal`: what `manage.py rehearse` has done in a desk: the file, the second desk's rows."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from desk import clock
from exchange_ops.rehearsals import files, loading, writing


class Command(BaseCommand):
    """One step of a rehearsal; people use `manage.py rehearse`, which calls it with the right settings."""

    help = "One step of a rehearsal; use `manage.py rehearse`, which starts the steps with the right settings."

    def add_arguments(self, parser: ArgumentParser) -> None:
        steps = parser.add_subparsers(dest="step", required=True)
        step = steps.add_parser("write", help="write this desk's figures to a file")
        step.add_argument("file", type=Path)
        steps.add_parser("load", help="make the rehearsal desk from the file in its folder")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"_{options['step']}")(options)
        except (files.CannotReadFile, loading.CannotLoad, writing.CannotWrite) as reason:
            raise CommandError(str(reason)) from None

    def _write(self, options: dict[str, Any]) -> None:
        for sentence in writing.write(options["file"], now=clock.now()).sentences():
            self.stdout.write(sentence)

    def _load(self, options: dict[str, Any]) -> None:
        loaded = loading.load(files.read(settings.DATA_DIR / files.FILE_NAME), now=clock.now())
        if loaded is None:
            return
        for problem in loaded.problems:
            self.stdout.write(problem)
        self.stdout.write("\nPasswords and secrets for one-time codes of this rehearsal, printed only now:")
        width = max(len(each.username) for each in loaded.access)
        for each in loaded.access:
            self.stdout.write(f"  {each.username:{width}}  {each.password}  {each.totp_secret}  ({each.roles})")
        self.stdout.write("")
