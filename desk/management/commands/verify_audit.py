import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from desk import audit, models


class Command(BaseCommand):
    help = "Checks the audit trail: chain, guards, kept heads, signatures. Exit status 1 when something was changed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--replay", action="store_true", help="also rebuild the rows from the events and compare")

    def handle(self, *args: Any, **options: Any) -> None:
        problems = audit.verify(replay=options["replay"])
        for problem in problems:
            self.stdout.write(problem)
        if problems:
            self.stdout.write(f"The audit trail does not hold: {len(problems)} findings.")
            sys.exit(1)
        count = models.AuditEvent.objects.count()
        self.stdout.write(f"The audit trail holds: {count} events, head {audit.head()[:16]}.")
