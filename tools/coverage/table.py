"""The table of docs/coverage.md: one row for each documented operation, and what of ours stands behind it."""

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.urls import get_resolver

from chaindata.client import ChainClient
from chaindata.client.keyed import TokenSender
from chaindata.wire import catalogue as chain_catalogue
from exchange_ops.client import ExchangeClient
from exchange_ops.console import elsewhere
from exchange_ops.wire import catalogue
from tools.coverage import chain_uses, contracts, reasons, stream_uses, uses
from wire.operation import Operation

HEADER = ("operation", "documented as", "sandbox", "client", "golden file", "contract test", "page")
NONE = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One operation: the function that answers it in the sandbox, the method that asks it, the golden file, the first
    contract test that asks it, and the pages that need it: the console where only a person who looks something up
    does. What no page but the console asks has a `reason` for that. Empty texts are gaps."""

    operation: Operation
    handler: str
    method: str
    golden: str
    contract: str
    pages: tuple[str, ...]
    reason: str

    @property
    def gaps(self) -> list[str]:
        """The columns that are empty and may not be: a page besides the console, or the reason why there is none."""
        columns = dict(zip(HEADER, self.cells(), strict=True)) | {"page": stream_uses.stands(self.pages, self.reason)}
        return [name for name, cell in columns.items() if not cell]

    def cells(self) -> tuple[str, ...]:
        """The row as Markdown."""
        path = self.operation.path.removeprefix(catalogue.PREFIX).removeprefix(chain_catalogue.PREFIX)
        call = f"`{self.operation.method} {path}`"
        return (
            self.operation.name,
            call,
            _code(self.handler),
            _code(self.method),
            self.golden,
            self.contract,
            _use(self.pages, self.reason),
        )


@dataclass(frozen=True, slots=True)
class Documented:
    """One outside service: its documented operations, and where what stands behind them is looked for."""

    operations: Sequence[Operation]
    handlers: Mapping[str, object]
    clients: Sequence[type]
    golden: Path
    contracts: Sequence[Path]
    pages: Mapping[str, tuple[str, ...]]
    reasons: Mapping[str, str]

    def rows(self) -> list[Row]:
        """A row for each operation, in the order of the documents."""
        tests = contracts.tests_of(self.operations, contracts.asked_in(self.contracts))
        golden = {path.stem: path.name for path in self.golden.glob("*.json")}
        return [
            Row(
                operation=operation,
                handler=_named(self.handlers.get(operation.name)),
                method=_named(self._method(operation.name)),
                golden=golden.get(operation.name, NONE),
                contract=tests.get(operation.name, NONE),
                pages=self.pages.get(operation.name) or self._console(operation.name),
                reason=self.reasons.get(operation.name, NONE),
            )
            for operation in self.operations
        ]

    def _console(self, name: str) -> tuple[str, ...]:
        return () if name in {*elsewhere.EXCHANGE, *elsewhere.CHAIN} else ("console",)

    def _method(self, name: str) -> object:
        """The method of that name, or the one that asks any operation of the catalogue by its name."""
        methods = (getattr(each, attribute, None) for attribute in (name, "call") for each in self.clients)
        return next(method for method in methods if method is not None)


def rows(root: Path) -> list[Row]:
    """Every operation of the exchange, in the order of the documents. Raises `uses.CannotTell`."""
    # The one part of production that looks into the sandbox: it compares the two sides.
    from sandbox.exchange.handlers import HANDLERS

    of_chain = root / "tests" / "sandbox" / "chain"
    paths = (root / "tests" / "sandbox").rglob("test_*contract*.py")
    files = sorted((path for path in paths if of_chain not in path.parents), key=lambda path: path.name)
    golden = root / "tests" / "golden" / "exchange"
    return Documented(
        catalogue.OPERATIONS, HANDLERS, (ExchangeClient,), golden, files, uses.pages_of(root), reasons.EXCHANGE
    ).rows()


def chain_rows(root: Path) -> list[Row]:
    """The same of the chain-data service, with the operations that real servers have besides."""
    from sandbox.chain import handlers as chain_handlers

    files = sorted((root / "tests" / "sandbox" / "chain" / "contracts").glob("test_contract_*.py"))
    golden = root / "tests" / "golden" / "chaindata"
    clients = (ChainClient, TokenSender)
    pages = chain_uses.pages_of(root)
    return Documented(chain_catalogue.ALL, chain_handlers.every(), clients, golden, files, pages, reasons.CHAIN).rows()


def page(of: list[Row], of_chain: list[Row], of_streams: list[stream_uses.StreamRow]) -> str:
    """The page, whole."""
    return _ABOVE + _table(of) + _ABOVE_STREAMS + _streams(of_streams) + _ABOVE_CHAIN + _table(of_chain)


def _table(of: list[Row]) -> str:
    return _markdown(HEADER, (row.cells() for row in of)) + "".join(_below(of))


def _streams(of: list[stream_uses.StreamRow]) -> str:
    cells = (
        (
            row.method.name,
            ", ".join(f"`{address.value}`" for address in row.method.addresses),
            row.golden,
            ", ".join(f"`{session}`" for session in row.sessions),
            _use(row.pages, row.reason),
        )
        for row in of
    )
    used = sum(bool(stream_uses.besides_console(row.pages)) for row in of)
    below = f"{len(of)} methods; {used} of them are used by a page besides the console, the others say why not.\n"
    return _markdown(stream_uses.HEADER, cells) + below


def _markdown(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n\n"


_ABOVE = """# What stands behind every documented operation

Written by `manage.py coverage_page --write` from the code; a test compares it. Paths are below `/api/2`. The handler is
in `sandbox/exchange/handlers/`, the client's method in `exchange_ops/client/`: `core.call` takes any operation by its
name, and what has a method of its own is called by our rules or has a rule of its own. The golden file (call and reply
transcribed from the documents, checked against the client) is in `tests/golden/exchange/`, the contract test (literal
addresses, for any server with `--target URL`) in `tests/sandbox/`. The page is the one of the desk whose rules ask for
it; what has none besides the console, or none at all, says why a person would not want one.

"""

_ABOVE_STREAMS = """
## The exchange's sockets

Every method; each is answered by `sandbox/server/sockets/` and can be called by its name through
`exchange_ops/client/stream_calls.py`. The session, below `exchange_ops/`, is what asks it by itself, and the page what
lives of that.

"""

_ABOVE_CHAIN = """
## The chain-data service

The same of the chain. Paths are below `/v2`. The handler is in `sandbox/chain/handlers/`, the client's method in
`chaindata/client/`, the golden file in `tests/golden/chaindata/`, the contract test in `tests/sandbox/chain/`. The last
rows are not in the documents; real servers have them, and existing clients use them.

"""


def _below(of: list[Row]) -> Iterator[str]:
    used = sum(bool(stream_uses.besides_console(row.pages)) for row in of)
    yield f"{len(of)} operations; {used} of them are used by a page besides the console, the others say why not.\n"


def _use(pages: tuple[str, ...], reason: str) -> str:
    """The addresses of the pages, then the reason where there is one."""
    return " ".join(filter(None, (", ".join(f"`{_address(name)}`" for name in pages), reason)))


def _address(name: str) -> str:
    """The address of a page, with its parts that vary in braces."""
    pattern: str = get_resolver().reverse_dict.getlist(name)[0][0][0][0]
    return "/" + re.sub(r"%\((\w+)\)s", r"{\1}", pattern)


def _named(function: object) -> str:
    """`module.function`, where it is defined."""
    if not inspect.isfunction(function):
        return NONE
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}"


def _code(text: str) -> str:
    return f"`{text}`" if text else NONE
