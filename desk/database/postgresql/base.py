"""Django's engine, witnessing; see `desk.database`."""

from django.db.backends.postgresql import base

from desk.database import Witnessing


class DatabaseWrapper(Witnessing, base.DatabaseWrapper):
    """A connection of this engine."""
