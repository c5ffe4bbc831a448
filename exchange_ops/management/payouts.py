"""Payouts as people name them to a command: by their reference."""

from django.core.management.base import CommandError

from exchange_ops.withdrawals.models import Withdrawal


def by_reference(text: str) -> Withdrawal:
    """The payout of "W-12" or "12". Raises CommandError where there is none."""
    number = text.removeprefix("W-")
    is_number = number.isascii() and number.isdigit() and len(number) < 19
    row = Withdrawal.objects.filter(pk=int(number)).first() if is_number else None
    if row is None:
        raise CommandError("Payout not found.")
    return row
