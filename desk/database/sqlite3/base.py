"""Django's engine, witnessing; see `desk.database`."""

from django.db.backends.sqlite3 import base

from desk.database import Witnessing


class DatabaseWrapper(Witnessing, base.DatabaseWrapper):
    """A connection of this engine."""
