"""`manage.py demo_code`: the six digits that an authenticator app would show for the demo people right now."""

import time
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    """Print the demo's one-time code and how long it holds. Refused outside the demo, where it would be a back door."""

    help = "Print the demo people's one-time code; only in the demo."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO:
            raise CommandError("There are no demo people here: DEMO is off.")
        from allauth.mfa.totp.internal.auth import hotp_value, yield_hotp_counters_from_time

        from desk.demo import DEMO_TOTP_SECRET

        counter = next(iter(yield_hotp_counters_from_time()))
        left = settings_period() - int(time.time()) % settings_period()
        self.stdout.write(f"{hotp_value(DEMO_TOTP_SECRET, counter):06d}  (good for {left} s)")


def settings_period() -> int:
    """Seconds for which one code holds."""
    from allauth.mfa import app_settings

    return int(app_settings.TOTP_PERIOD)
