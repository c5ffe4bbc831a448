"""The figures of a reconciliation as a file: CSV that no spreadsheet takes for formulas, or JSON with exact texts."""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from desk.lists import exports
from exchange_ops.reconciliation.statements import Line, Statement
from wire.values import decimal_text

COLUMNS: Final = (
    *("account", "currency", "from", "to", "opening", "in", "out", "moved", "fees", "fee currency"),
    *("net", "closing"),
    *("exchange reports", "difference", "state", "reason", "exchange read at (UTC)", "ledger index"),
)


def as_csv(statements: Iterable[Statement], days: tuple[str, str]) -> str:
    """A table with a byte order mark; an empty cell where a figure is not known."""
    return exports.table(COLUMNS, _rows(statements, days))


def as_json(statements: Sequence[Statement], days: tuple[str, str], *, now: datetime) -> str:
    """The same rows with what they are of; amounts are texts, and null where a figure is not known."""
    rows = [dict(zip(COLUMNS, map(_plain, row), strict=True)) for row in _rows(statements, days)]
    head = {"list": "reconciliation", "exported_at": _moment(now), "from": days[0], "to": days[1]}
    unread = [each.account.name for each in statements if each.read_at is None]
    return json.dumps(head | {"not_read_yet": unread, "rows": rows}, ensure_ascii=False, indent=1) + "\n"


def _rows(statements: Iterable[Statement], days: tuple[str, str]) -> Iterator[list[Any]]:
    for statement in statements:
        for line in statement.lines:
            yield [statement.account.name, line.figures.currency, *days, *_figures(line), *_state(statement, line)]


def _figures(line: Line) -> list[Decimal | str | None]:
    one = line.figures
    sums = (one.incoming, one.outgoing, one.moved, one.fees, one.currency, one.net)
    values = [one.opening, *sums, one.closing, line.reported, line.difference]
    return [value or Decimal(0) if isinstance(value, Decimal) else value for value in values]  # never "-0"


def _state(statement: Statement, line: Line) -> list[Any]:
    return [line.label, line.reason, statement.read_at, statement.through]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return _moment(value)
    return decimal_text(value) if isinstance(value, Decimal) else value


def _moment(when: datetime) -> str:
    return when.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
