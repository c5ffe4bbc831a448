"""Which page lives of which method of the exchange's sockets: from the methods that the sessions name."""

import ast
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from exchange_ops.console import elsewhere
from exchange_ops.wire import streams
from exchange_ops.wire.streams import Method
from tools.coverage import reasons
from tools.coverage.uses import CannotTell

CONSOLE = "console"
HEADER = ("method", "socket", "golden file", "session", "page")
# What speaks on the sockets, below exchange_ops, and the names of the pages that live of what it hears or asks.
SESSIONS: Mapping[str, tuple[str, ...]] = {
    "wire/session.py": ("ledger", "funds"),
    "wire/market_session.py": ("markets", "market"),
    "wire/trading_session.py": ("orders", "margin"),
    "orders/steps/trading_line.py": ("order-new", "order", "order-replace", "margin"),
}
# Sessions that name a method by its beginning and a channel of their own.
_CHANNELS = ("Ticker", "Trades", "Candles", "Orderbook")


@dataclass(frozen=True, slots=True)
class StreamRow:
    """One method: its golden file, the sessions that ask it, the pages that live of it, else the `reason` for none."""

    method: Method
    golden: str
    sessions: tuple[str, ...]
    pages: tuple[str, ...]
    reason: str

    @property
    def gaps(self) -> list[str]:
        """The columns that are empty and may not be."""
        columns = {"golden file": self.golden, "page": stands(self.pages, self.reason)}
        return [name for name, cell in columns.items() if not cell]


def rows(root: Path) -> list[StreamRow]:
    """Every method, in the order of the documents. Raises `CannotTell` for a session that names none."""
    asked_by = {session: _named(root / "exchange_ops" / session) for session in SESSIONS}
    idle = sorted(session for session, names in asked_by.items() if not names)
    if idle:
        raise CannotTell(f"These have a page in tools/coverage/stream_uses.py and ask nothing: {idle}")
    golden = {path.stem: path.name for path in (root / "tests/golden/exchange_streams/methods").glob("*.json")}
    return [_row(method, asked_by, golden) for method in streams.METHODS]


def _row(method: Method, asked_by: Mapping[str, frozenset[str]], golden: Mapping[str, str]) -> StreamRow:
    sessions = tuple(session for session, names in asked_by.items() if method.name in names)
    pages = tuple(dict.fromkeys(page for session in sessions for page in SESSIONS[session]))
    if not pages and method.name not in elsewhere.STREAMS:
        pages = (CONSOLE,)
    return StreamRow(method, golden.get(method.name, ""), sessions, pages, reasons.STREAMS.get(method.name, ""))


def besides_console(pages: tuple[str, ...]) -> tuple[str, ...]:
    """The pages without the console, where a person may ask anything that only asks."""
    return tuple(name for name in pages if name != CONSOLE)


def stands(pages: tuple[str, ...], reason: str) -> str:
    """What the column of pages stands on: pages besides the console or a reason, never both; "" is a gap."""
    own = besides_console(pages)
    return "" if bool(own) == bool(reason) else reason or " ".join(own)


@functools.cache
def _named(path: Path) -> frozenset[str]:
    """The methods that a session names, whole or by a beginning to which it adds its channel."""
    texts = {
        node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)
    }  # parts of f-strings among them
    begun = {
        f"{verb}{channel}" for verb in ("subscribe", "unsubscribe") if verb in texts for channel in _channels(texts)
    }
    return frozenset(streams.by_name) & (_texts(texts) | begun)


def _channels(texts: Iterable[object]) -> list[str]:
    return [channel for channel in _CHANNELS if channel in texts]


def _texts(values: Iterable[object]) -> set[str]:
    return {text for text in values if isinstance(text, str)}
