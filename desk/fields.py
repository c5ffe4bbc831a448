"""Money in the database: exact on both engines, never silently rounded.

SQLite turns a decimal column into a binary float and loses every digit past the fifteenth. There an exact decimal is
kept as text under a collation that compares numbers; on PostgreSQL it is plain `numeric`. Arithmetic with F() would
still go through a float on SQLite, so sums of rows use `ExactSum` and everything else is done in Python.
"""

import decimal
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.db import connection as default_connection
from django.db import models

PRECISION = 96
_CONTEXT = decimal.Context(prec=PRECISION, traps=[decimal.InvalidOperation, decimal.Overflow, decimal.DivisionByZero])


def widen_context() -> None:
    """Give this thread and all later ones enough digits: Python's 28 round a sum of large amounts."""
    decimal.DefaultContext.prec = PRECISION
    decimal.getcontext().prec = PRECISION


def plain(value: Decimal) -> Decimal:
    """The same number without trailing zeros and exponent, so that both engines return equal text."""
    bare = value.normalize(_CONTEXT)
    if bare == 0:
        return Decimal(0)
    exponent = bare.as_tuple().exponent
    return bare.quantize(Decimal(1), context=_CONTEXT) if isinstance(exponent, int) and exponent > 0 else bare


class ExactDecimalField(models.DecimalField):  # type: ignore[type-arg]
    """A decimal that is read back exactly as it was stored.

    At most `decimal_places` digits after the point and `max_digits` in all; more is refused with ValueError instead of
    being rounded. Floats, NaN and infinities are refused. Values read have no trailing zeros and no exponent.
    """

    description = "Exact decimal number"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"max_digits": 60, "decimal_places": 24, **options})

    def to_python(self, value: Any) -> Decimal | None:
        if isinstance(value, float | bool):
            raise ValidationError("Amounts can't be floats or booleans; pass a Decimal or a string.", code="invalid")
        number: Decimal | None = super().to_python(value)
        if number is not None and not number.is_finite():
            raise ValidationError(self.error_messages["invalid"], code="invalid", params={"value": value})
        return number

    def get_internal_type(self) -> str:
        # The engine's own converters for "DecimalField" go through a float on SQLite; PostgreSQL needs the name for
        # its fast bulk insert.
        return "ExactDecimalField" if default_connection.vendor == "sqlite" else "DecimalField"

    def db_type(self, connection: Any) -> str | None:
        if connection.vendor == "sqlite":
            return "text COLLATE exact_decimal"
        return f"numeric({self.max_digits}, {self.decimal_places})"

    def cast_db_type(self, connection: Any) -> str | None:
        return "text" if connection.vendor == "sqlite" else self.db_type(connection)

    def get_prep_value(self, value: Any) -> Any:
        if hasattr(value, "as_sql"):
            return value
        number = self.to_python(value)
        if number is not None:
            self._refuse_what_would_round(number)
        return number

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        if hasattr(value, "as_sql"):
            return value
        number = self.get_prep_value(value)
        if number is None:
            return None
        return format(plain(number), "f") if connection.vendor == "sqlite" else number

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        return self.get_db_prep_value(value, connection)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Decimal | None:
        return None if value is None else plain(value if isinstance(value, Decimal) else Decimal(str(value)))

    def _refuse_what_would_round(self, number: Decimal) -> None:
        bare = plain(number)
        _, digits, exponent = bare.as_tuple()
        places = -exponent if isinstance(exponent, int) and exponent < 0 else 0
        integer_digits = max(len(digits) - places, 0)
        if places > (self.decimal_places or 0) or integer_digits > (self.max_digits or 0) - (self.decimal_places or 0):
            raise ValueError(
                f"{self.name or 'amount'} takes {self.max_digits} digits with {self.decimal_places} after the dot, "
                f"and {number} would be rounded."
            )


class ExactSum(models.Aggregate):
    """The sum of an ExactDecimalField over rows, exact on both engines; None over no rows."""

    name = "ExactSum"
    function = "SUM"
    allow_distinct = False

    def _resolve_output_field(self) -> ExactDecimalField:
        # Sums may outgrow the column, and the converters must not be those of a float.
        return ExactDecimalField(max_digits=PRECISION, decimal_places=24)

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return super().as_sql(compiler, connection, function="exact_sum", **extra)


class _ExactTotal:
    """The SQLite aggregate behind ExactSum: adds texts as decimals."""

    def __init__(self) -> None:
        self.total: Decimal | None = None

    def step(self, value: object) -> None:
        if value is not None:
            self.total = _CONTEXT.add(self.total or Decimal(0), Decimal(str(value)))

    def finalize(self) -> str | None:
        return None if self.total is None else format(self.total, "f")


def _compare(one: str, other: str) -> int:
    """Numeric order of two texts; text that is no number sorts before every number instead of breaking the query."""
    numbers: list[Decimal | None] = []
    for text in (one, other):
        try:
            numbers.append(Decimal(text))
        except decimal.InvalidOperation:
            numbers.append(None)
    first, second = numbers
    if first is None or second is None:
        key: Callable[[str, Decimal | None], tuple[int, str]] = lambda text, number: (number is not None, text)  # noqa: E731
        a, b = key(one, first), key(other, second)
        return (a > b) - (a < b)
    return (first > second) - (first < second)


def teach_sqlite(*, connection: Any, **_: Any) -> None:
    """Receiver of connection_created: SQLite learns the collation and the aggregate on every new connection."""
    if connection.vendor == "sqlite":
        connection.connection.create_collation("exact_decimal", _compare)
        connection.connection.create_aggregate("exact_sum", 1, _ExactTotal)
