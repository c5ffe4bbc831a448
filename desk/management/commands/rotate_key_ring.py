from typing import Any

from django.core.management.base import BaseCommand, CommandError

from desk import sealing


class Command(BaseCommand):
    help = "Re-encrypt every stored secret with the newest key in the key ring. Older keys can then be removed."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            changed = sealing.rewrap_everything()
        except (sealing.CannotSeal, sealing.CannotUnseal) as reason:
            raise CommandError(str(reason)) from None
        for name, count in changed.items():
            self.stdout.write(f"{name}: {count} re-encrypted")
