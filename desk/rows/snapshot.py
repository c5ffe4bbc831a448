"""Reading the rows of one moment, however long the reading takes and whatever others write meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

# SQLite's own transactions begin IMMEDIATE here, for writing, and would keep every writer waiting.
_BEGIN = {"sqlite": "BEGIN DEFERRED", "postgresql": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}


@contextmanager
def one_moment() -> Iterator[None]:
    """Everything read inside is as it stands at the first reading; nobody waits for it, and nothing may be written.

    Inside a transaction of the caller's it changes nothing: that one decides what is seen.
    """
    if connection.in_atomic_block:
        yield
        return
    _execute(_BEGIN[connection.vendor])
    try:
        yield
    finally:
        _execute("ROLLBACK")


def _execute(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)
