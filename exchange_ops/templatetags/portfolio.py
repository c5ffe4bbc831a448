"""Formatting of changes with their sign, and of shares in percent."""

from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_EVEN, Decimal

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from desk.templatetags.desk import amount, cents, plain, usual_places

register = template.Library()


@register.filter
def percent(part: Decimal | None) -> str:
    """A share (0 to 1) in percent, to a tenth; a dash without one."""
    if part is None:
        return "\u2013"
    return f"{plain((part * 100).quantize(Decimal('0.1'), rounding=ROUND_HALF_EVEN), places=1)} %"


@register.simple_tag
def change(value: Decimal | None, part: Decimal | None, *, unit: str = "") -> SafeString | str:
    """A difference with its sign, and as a share of the initial value if that is known."""
    if value is None:
        return ""
    tone = "good" if value > 0 else "bad" if value < 0 else "quiet"
    share = f" ({'+' if part > 0 else ''}{percent(part)})" if part is not None else ""
    text = f"{'+' if value > 0 else ''}{cents(value)} {unit}".rstrip()
    return format_html('<span class="change tone-{}">{}{}</span>', tone, text, share)


@register.simple_tag
def currency_link(code: str) -> SafeString:
    """The code of a currency, linked to its page."""
    if "/" in code:
        return format_html("{}", code)
    return format_html('<a href="{}" data-row-link>{}</a>', reverse("funds-currency", args=[code]), code)


@register.filter
def share_of(value: Decimal, currency: str) -> str:
    """A divided amount with its currency, rounded to eight places."""
    return amount(value.quantize(Decimal("1e-8"), rounding=ROUND_HALF_EVEN), currency)


@register.filter
def rounded(value: Decimal | None, currency: str) -> str:
    """An amount to the usual places, for a summary with the exact figure a click away; empty without one."""
    if value is None:
        return ""
    places = usual_places(currency)
    short = value.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_EVEN)
    return plain(short or value, places=places)


@register.filter
def sorted_join(names: Iterable[str]) -> str:
    """Names in order, with commas."""
    return ", ".join(sorted(names))


@register.filter
def get(words: Mapping[str, str], key: str) -> str:
    """The word for a key."""
    return words[key]
