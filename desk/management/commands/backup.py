from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from desk import clock
from desk.restores import backups


class Command(BaseCommand):
    help = (
        "Back up the database and heads files to a new folder while the desk is running. The key ring is not included."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="the folder to create; it must not exist yet")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manifest = backups.back_up(options["folder"], now=clock.now())
        except backups.CannotBackUp as problem:
            raise CommandError(str(problem)) from None
        self.stdout.write(f"Backed up to {options['folder']}: {', '.join(manifest.files)}.")
        self.stdout.write(
            "The key ring is not included. Store it separately: anyone with both can decrypt every secret."
        )
