import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from desk import audit_check


class Command(BaseCommand):
    help = "Check the audit trail: chain, guards, stored heads, signatures. Exit status 1 if anything was altered."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--replay", action="store_true", help="also recount votes and compare every row")

    def handle(self, *args: Any, **options: Any) -> None:
        result = audit_check.run(replay=options["replay"])
        for finding in result.findings:
            self.stdout.write(finding)
        if not result.holds:
            self.stdout.write(f"The audit trail is not intact. Number of findings: {len(result.findings)}.")
            sys.exit(1)
        self.stdout.write(f"The audit trail is intact: {result.events} events, head {result.head[:16]}.")
