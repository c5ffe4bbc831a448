"""`manage.py client_package`: the Python package for programs, made from the description of the interface."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from project.clients import package, shapes


class Command(BaseCommand):
    """Compare the package with the description, or write it anew."""

    help = "Check that clients/python matches the API description; --write updates it."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--write", action="store_true", help="write the modules instead of checking them")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            modules = package.modules()
        except shapes.CannotGenerate as problem:
            raise CommandError(str(problem)) from None
        for path, text in modules.items():
            if options["write"]:
                path.write_text(text)
            elif not path.exists() or path.read_text() != text:
                raise CommandError(f"{path.name} is out of date: run `manage.py client_package --write`.")
