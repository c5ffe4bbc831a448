"""Django's two engines, extended: what a transaction has written to witnessed tables is witnessed when it commits."""

from typing import Any


class Witnessing:
    """Mixed into a connection of Django's own engines (`sqlite3`, `postgresql`)."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.unwitnessed: dict[Any, set[Any]] = {}
        self.by_key: dict[Any, Any] = {}  # the queries of `rows_by_key`, built for this connection

    def commit(self) -> None:
        """Write the entry of the chain of witnesses, then commit. Where the entry fails, nothing is committed."""
        if self.unwitnessed:
            self._witness()
        super().commit()  # type: ignore[misc]

    def rollback(self) -> None:
        """Roll back, and forget what was to be witnessed."""
        self.unwitnessed = {}
        super().rollback()  # type: ignore[misc]

    def connect(self) -> None:
        """Connect, and forget what was to be witnessed before: it was never committed."""
        self.unwitnessed = {}
        super().connect()  # type: ignore[misc]

    def _witness(self) -> None:
        from desk.audit import witness_chain  # late: the engine is loaded before the models are

        self.in_atomic_block = True  # Django marks the outermost block as left right before it commits
        try:
            witness_chain.write_noted()
        except BaseException:
            self.in_atomic_block = False
            self.rollback()
            raise
        self.in_atomic_block = False
