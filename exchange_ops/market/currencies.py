"""The currency that somebody named."""

from exchange_ops.market.models import Currency


def currency(code: str) -> Currency | None:
    """The currency that somebody named, if there is one; a text that can't be a code names none."""
    return Currency.objects.filter(pk=code).first() if code.isascii() and code.isalnum() and len(code) <= 20 else None
