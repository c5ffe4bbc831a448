"""The table of docs/coverage.md: one row for each documented operation, and what of ours stands behind it."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.urls import reverse

from exchange_ops.client import ExchangeClient
from exchange_ops.wire import catalogue
from project.coverage import contracts, uses
from wire.operation import Operation

HEADER = ("operation", "documented as", "sandbox", "client", "golden file", "contract test", "page")
NONE = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One operation: the function that answers it in the sandbox, the method that asks it, the golden file, the first
    contract test that asks it, and the pages that need it. Empty texts are gaps; only `pages` may be empty."""

    operation: Operation
    handler: str
    method: str
    golden: str
    contract: str
    pages: tuple[str, ...]

    @property
    def gaps(self) -> list[str]:
        """The columns that are empty and may not be."""
        return [HEADER[place] for place, cell in enumerate(self.cells()[:-1]) if not cell]

    def cells(self) -> tuple[str, ...]:
        """The row as Markdown."""
        pages = ", ".join(f"`{reverse(name)}`" for name in self.pages)
        call = f"`{self.operation.method} {self.operation.path.removeprefix(catalogue.PREFIX)}`"
        return (
            self.operation.name,
            call,
            _code(self.handler),
            _code(self.method),
            self.golden,
            self.contract,
            pages,
        )


def rows(root: Path) -> list[Row]:
    """Every operation of the catalogue, in the order of the documents. Raises `uses.CannotTell`."""
    # The one part of production that looks into the sandbox: it compares the two sides.
    from sandbox.handlers import HANDLERS

    tests = contracts.tests_of(catalogue.OPERATIONS, contracts.asked_in(_contract_files(root)))
    golden = {path.stem: path.name for path in (root / "tests" / "golden" / "exchange").glob("*.json")}
    pages = uses.pages_of(root)
    return [
        Row(
            operation=operation,
            handler=_named(HANDLERS.get(operation.name)),
            method=_named(getattr(ExchangeClient, operation.name, None)),
            golden=golden.get(operation.name, NONE),
            contract=tests.get(operation.name, NONE),
            pages=pages.get(operation.name, ()),
        )
        for operation in catalogue.OPERATIONS
    ]


def page(of: list[Row]) -> str:
    """The page, whole."""
    lines = [HEADER, tuple("---" for _ in HEADER), *(row.cells() for row in of)]
    return _ABOVE + "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n\n" + "".join(_below(of))


_ABOVE = """# What stands behind every documented operation

Written by `manage.py coverage_page --write` from the code; a test compares it. Paths are below `/api/2`. The handler is
in `sandbox/handlers/`, the client's method in `exchange_ops/client/`, the golden file (call and reply transcribed from
the documents, checked against the client) in `tests/golden/exchange/`, the contract test (literal addresses, for any
server with `--target URL`) in `tests/sandbox/`. The page is the one of the desk whose rules ask for it; an operation
that no page needs is offered by the client all the same.

"""


def _below(of: list[Row]) -> Iterator[str]:
    used = sum(bool(row.pages) for row in of)
    yield f"{len(of)} operations; {used} of them are used by a page of the desk.\n"


def _named(function: object) -> str:
    """`module.function`, where it is defined."""
    if not inspect.isfunction(function):
        return NONE
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}"


def _contract_files(root: Path) -> list[Path]:
    return sorted((root / "tests" / "sandbox").glob("test_*contract*.py"))


def _code(text: str) -> str:
    return f"`{text}`" if text else NONE
