from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from desk import clock
from desk.restores import backups


class Command(BaseCommand):
    help = "Make a backup of rows and heads in a folder of its own. The desk may go on working; the ring is not in it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="where to make it; it must not be there yet")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manifest = backups.back_up(options["folder"], now=clock.now())
        except backups.CannotBackUp as problem:
            raise CommandError(str(problem)) from None
        self.stdout.write(f"Backed up to {options['folder']}: {', '.join(manifest.files)}.")
        self.stdout.write("The key ring is not in it. Keep it apart: with both, every secret can be read.")
