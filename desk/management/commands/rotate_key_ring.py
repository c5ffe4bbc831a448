from typing import Any

from django.core.management.base import BaseCommand, CommandError

from desk import sealing


class Command(BaseCommand):
    help = "Puts every sealed secret under the newest key of the ring. Afterwards the older keys can go."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            changed = sealing.rewrap_everything()
        except (sealing.CannotSeal, sealing.CannotUnseal) as reason:
            raise CommandError(str(reason)) from None
        for name, count in changed.items():
            self.stdout.write(f"{name}: {count} re-wrapped")
