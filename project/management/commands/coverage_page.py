"""`manage.py coverage_page`: every documented operation and what of ours stands behind it, as docs/coverage.md."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from tools.coverage import stream_uses, table, uses

PAGE = Path(settings.BASE_DIR) / "docs" / "coverage.md"


class Command(BaseCommand):
    """Compare the page with the code, print it, or write it anew; an operation with a gap is an error."""

    help = "Check that docs/coverage.md matches the code; --write updates it, --print only prints it."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--write", action="store_true", help="write the page instead of checking it")
        parser.add_argument("--print", action="store_true", dest="show", help="print the page instead of checking it")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            root = Path(settings.BASE_DIR)
            rows, of_chain, of_streams = table.rows(root), table.chain_rows(root), stream_uses.rows(root)
        except uses.CannotTell as problem:
            raise CommandError(str(problem)) from None
        page = table.page(rows, of_chain, of_streams)
        if options["show"]:
            self.stdout.write(page)
        elif options["write"]:
            PAGE.write_text(page)
        elif not PAGE.exists() or PAGE.read_text() != page:
            raise CommandError(f"{PAGE.name} is out of date; run `manage.py coverage_page --write`.")
        gaps = [f"{row.operation.name}: {', '.join(row.gaps)}" for row in [*rows, *of_chain] if row.gaps]
        gaps += [f"{row.method.name}: {', '.join(row.gaps)}" for row in of_streams if row.gaps]
        if gaps:
            raise CommandError("Not covered: " + "; ".join(gaps) + ".")
