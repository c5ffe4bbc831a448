from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from desk import audit_check, clock
from desk.restores import backups


class Command(BaseCommand):
    help = "Put a backup back. The desk must not run; afterwards it sends nothing until two people have settled it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="what `manage.py backup` made")
        parser.add_argument("--replace", action="store_true", help="move the rows that are here aside (SQLite)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manifest = backups.put_back(options["folder"], now=clock.now(), over_rows=options["replace"])
        except backups.CannotRestore as refusal:
            raise CommandError(str(refusal)) from None
        self.stdout.write(f"Put back: the desk as it was at {manifest.made_at}.")
        self.stdout.write(
            "It sends nothing until two people of treasury have settled what waits to be sent: start it, and they find "
            "it under Needs action."
        )
        result = audit_check.run(replay=True)
        for finding in result.findings:
            self.stdout.write(finding)
        if not result.holds:
            self.stdout.write(
                "What the file of heads here knows beyond the backup is lost, and stays a finding until then."
            )
        self.stdout.write(f"{result.events} events, head {result.head[:16]}.")
