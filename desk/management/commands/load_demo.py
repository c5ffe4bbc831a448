from typing import Any

from django.core.management.base import BaseCommand, CommandError

from desk.people import demo


class Command(BaseCommand):
    help = "Load the demo desk: users, account, keys. Safe to repeat; only available in the demo."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            loaded = demo.load()
        except demo.CannotLoad as reason:
            raise CommandError(str(reason)) from None
        self.stdout.write(f"Demo loaded: {', '.join(loaded)}.")
