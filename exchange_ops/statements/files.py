"""Statements as files: CSV that no spreadsheet takes for formulas, or JSON with exact amounts as texts."""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

from desk.lists import exports
from exchange_ops.ledger.directions import FEES
from exchange_ops.statements.lines import KINDS, Line
from exchange_ops.statements.models import SignedStatement
from exchange_ops.statements.proofs import Late, Reconciled
from exchange_ops.statements.statement import Statement
from wire.values import decimal_text

COLUMNS: Final = (
    *("account", "from", "to", "wallet", "currency", "opening"),
    *(kind for kind in KINDS if kind != FEES),
    *("fees", "fee currency", "closing", "movements", "reason"),
    *("price", "price of", "priced by", "value", "value currency", "reconciliation", "reconciled at (UTC)"),
    *("records read late", "last read late at (UTC)", "provisional"),
)


def as_csv(statements: Iterable[Statement]) -> str:
    """A table with a byte order mark; an empty cell where a figure is not known."""
    return exports.table(COLUMNS, _rows(statements))


def as_json(statements: Sequence[Statement], *, now: datetime) -> str:
    """Each statement with its lines, proof and reservations; null where a figure is not known."""
    head = {"list": "statements", "exported_at": _moment(now)}
    return (
        json.dumps(head | {"statements": [_content(each) for each in statements]}, ensure_ascii=False, indent=1) + "\n"
    )


def signed_as_json(row: SignedStatement) -> str:
    """The figures as they were signed, their digest, and who signed them when."""
    people = [{"person": str(each.person), "at": _moment(each.at)} for each in row.signatures.select_related("person")]
    head = {"reference": row.reference, "account": row.account.name, "digest": row.digest, "signatures": people}
    return json.dumps(head | {"signed": json.loads(row.content)}, ensure_ascii=False, indent=1) + "\n"


def figures(each: Statement) -> dict[str, Any]:
    """The figures of one statement alone, with amounts as texts: what stays as it is unless a figure changes."""
    content = _content(each)
    return {name: content[name] for name in ("from", "to", "value", "value_currency", "lines")}


def _rows(statements: Iterable[Statement]) -> Iterator[list[Any]]:
    for each in statements:
        for line in each.lines:
            yield [*_of(each), *_figures(line), *_value(each, line), *_reservations(each)]


def _of(each: Statement) -> list[Any]:
    return [each.account.name, str(each.period.first), str(each.period.last)]


def _figures(line: Line) -> list[Any]:
    sums = [movement.amount for kind, movement in line.movements.items() if kind != FEES]
    fees = line.movements[FEES].amount
    return [
        *(line.wallet, line.currency, line.opening, *sums, fees, line.currency),
        *(line.closing, line.count, line.reason),
    ]


def _value(each: Statement, line: Line) -> list[Any]:
    if line.price is None:
        return [None, "no price", "", None, each.account.quote_currency]
    return [line.price.rate, str(line.price.day), ", ".join(line.price.via), line.value, each.account.quote_currency]


def _reservations(each: Statement) -> list[Any]:
    outcome = each.reconciled
    return [outcome.state, outcome.at, each.late.count, each.late.last, each.is_provisional]


def _content(each: Statement) -> dict[str, Any]:
    return {
        "account": each.account.name,
        "from": str(each.period.first),
        "to": str(each.period.last),
        "begins": _moment(each.period.begins),
        "ends": _moment(each.period.ends),
        "ledger_begins": _plain(each.support.begins),
        "ledger_synced_at": _plain(each.support.synced_at),
        "provisional": each.is_provisional,
        "value": _plain(each.value),
        "value_currency": each.account.quote_currency,
        "lines": [_line(each, line) for line in each.lines],
        "proof": {name: getattr(each.proof, name) for name in each.proof.__slots__},
        "reconciliation": _reconciled(each.reconciled),
        "read_late": _late(each.late),
    }


def _line(each: Statement, line: Line) -> dict[str, Any]:
    price, day, via, value, _ = _value(each, line)
    return {
        "wallet": line.wallet,
        "currency": line.currency,
        "opening": _plain(line.opening),
        "movements": {
            kind: {"amount": _plain(movement.amount), "count": movement.count}
            for kind, movement in line.movements.items()
        },
        "closing": _plain(line.closing),
        "reason": line.reason,
        "price": _plain(price),
        "price_of": day if line.price else None,
        "priced_by": via,
        "value": _plain(value),
    }


def _reconciled(outcome: Reconciled) -> dict[str, Any]:
    return {
        "state": outcome.state,
        "at": _plain(outcome.at),
        "differences": {code: _plain(amount) for code, amount in outcome.differences.items()},
        "not_verifiable": list(outcome.not_verifiable),
        "incidents": [row.reference for row in outcome.incidents],
    }


def _late(late: Late) -> dict[str, Any]:
    return {"count": late.count, "before": late.before, "first": _plain(late.first), "last": _plain(late.last)}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, date):
        return str(value)
    return decimal_text(value) if isinstance(value, Decimal) else value


def _moment(when: datetime) -> str:
    return when.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
