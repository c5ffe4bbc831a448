"""`manage.py demo_code`: the six digits that an authenticator app would show for the demo people right now."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from desk import clock
from desk.people import totp


class Command(BaseCommand):
    """Print the demo's one-time code and how long it holds. Refused outside the demo, where it would be a back door."""

    help = "Print the demo users' one-time code; only in the demo."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO:
            raise CommandError("No demo users: DEMO is off.")
        if settings.REHEARSAL:
            raise CommandError("No demo users: people of a rehearsal have secrets of their own.")
        from desk.people import demo
        from wire.values import Secret

        now = clock.now()
        code = totp.code_at(Secret(demo.DEMO_TOTP_SECRET), totp.step_at(now))
        remaining_s = totp.STEP_SECONDS - int(now.timestamp()) % totp.STEP_SECONDS
        self.stdout.write(f"{code}  (valid for {remaining_s} s)")
