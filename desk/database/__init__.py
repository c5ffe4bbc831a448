"""The two engines, with one thing more: what a transaction wrote into witnessed tables is witnessed as it commits."""

from typing import Any


class Witnessing:
    """Mixed into a connection of Django's own engines (`sqlite3`, `postgresql`)."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.unwitnessed: dict[Any, set[Any]] = {}
        self.by_key: dict[Any, Any] = {}  # of `rows_by_key`, whose texts are made for this connection

    def commit(self) -> None:
        """Write the entry of the chain of witnesses, then commit; when that fails nothing is committed."""
        if self.unwitnessed:
            self._witness()
        super().commit()  # type: ignore[misc]

    def rollback(self) -> None:
        """Undo everything; nothing is left to be witnessed."""
        self.unwitnessed = {}
        super().rollback()  # type: ignore[misc]

    def connect(self) -> None:
        """Begin anew: what an earlier connection left undone was never committed."""
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
