"""`manage.py migrate`: Django's, which begins with whether this version still has the migrations of the database."""

from typing import Any, Final

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.loader import MigrationLoader

# The last version with the migrations that the first one of each app stands for since.
THROUGH: Final = "0.7.0"


class Command(migrate.Command):
    """Django's, but for a database that older migrations began: that one has to pass through an older version."""

    def handle(self, *args: Any, **options: Any) -> None:
        _refuse_too_old(MigrationLoader(connections[options["database"]]))
        super().handle(*args, **options)


def _refuse_too_old(loader: MigrationLoader) -> None:
    """Raise CommandError where an app has tables, and not by the first of its migrations that are here."""
    begun = {app for app, _ in loader.applied_migrations} & loader.migrated_apps
    if any(first not in loader.applied_migrations for app in begun for first in loader.graph.root_nodes(app)):
        raise CommandError(
            f"No changes made. This database is from before version {THROUGH} and must be upgraded to it first. "
            f"Run `manage.py migrate` from version {THROUGH} once, then start this version."
        )
