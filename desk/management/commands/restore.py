from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from desk import audit_check, clock
from desk.restores import backups


class Command(BaseCommand):
    help = (
        "Restore a backup. Stop the desk first. Afterwards, nothing is sent until two treasurers complete the restore."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="a folder created by `manage.py backup`")
        parser.add_argument("--replace", action="store_true", help="move the existing rows aside (SQLite)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manifest = backups.put_back(options["folder"], now=clock.now(), over_rows=options["replace"])
        except backups.CannotRestore as refusal:
            raise CommandError(str(refusal)) from None
        self.stdout.write(f"The desk is restored to its state at {manifest.made_at}.")
        self.stdout.write(
            "Nothing is sent until two treasurers have decided on each pending request. Run `manage.py prepare`, "
            "then start the desk; the requests are listed under Needs action."
        )
        result = audit_check.run(replay=True)
        for finding in result.findings:
            self.stdout.write(finding)
        if not result.holds:
            self.stdout.write(
                "Events that are in the heads file but not in the backup are lost. The loss is reported until the "
                "restore is completed."
            )
        self.stdout.write(f"{result.events} events, head {result.head[:16]}.")
