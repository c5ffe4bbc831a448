"""`manage.py coverage_list`: every documented operation, and what of ours stands behind it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from exchange_ops.client import ExchangeClient
from exchange_ops.wire import catalogue
from wire.operation import Operation

GOLDEN = Path(settings.BASE_DIR) / "tests" / "golden"
_HEADER = ("operation", "documented as", "golden file", "sandbox", "client")


@dataclass(frozen=True, slots=True)
class Covered:
    """One operation: its catalogue row, its golden file (None when there is none), and where its name is known."""

    operation: Operation
    golden: Path | None
    has_handler: bool
    has_method: bool


class Command(BaseCommand):
    """Print the list. It only looks: what must be there is held by the tests."""

    help = "Print every documented operation with its golden file, its sandbox handler and its client method."

    def handle(self, *args: Any, **options: Any) -> None:
        rows = covered()
        table = [_HEADER, *(_cells(row) for row in rows)]
        widths = [max(len(cells[place]) for cells in table) for place in range(len(_HEADER))]
        for cells in table:
            self.stdout.write("  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip())
        self.stdout.write(
            f"\n{len(rows)} operations: {sum(row.golden is not None for row in rows)} with a golden file, "
            f"{sum(row.has_handler for row in rows)} answered by the sandbox, "
            f"{sum(row.has_method for row in rows)} with a client method of their own."
        )


def covered() -> list[Covered]:
    """Every operation of the catalogue, in the order of the specification."""
    # The one command of production that looks into the sandbox: it compares the two sides.
    from sandbox.handlers import HANDLERS

    golden = {path.stem: path for path in GOLDEN.rglob("*") if path.is_file()}
    return [
        Covered(
            operation=operation,
            golden=golden.get(operation.name),
            has_handler=operation.name in HANDLERS,
            has_method=callable(getattr(ExchangeClient, operation.name, None)),
        )
        for operation in catalogue.OPERATIONS
    ]


def _cells(row: Covered) -> tuple[str, ...]:
    return (
        row.operation.name,
        f"{row.operation.method} {row.operation.path}",
        row.golden.name if row.golden else "none",
        "yes" if row.has_handler else "no",
        "method" if row.has_method else "call",
    )
