"""Looking up a currency by its code."""

from exchange_ops.market.models import Currency


def currency(code: str) -> Currency | None:
    """The currency with this code; None if there is none or the text can't be a code."""
    return Currency.objects.filter(pk=code).first() if code.isascii() and code.isalnum() and len(code) <= 20 else None
