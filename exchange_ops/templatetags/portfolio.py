"""Figures of change: how much more or less, with its sign, and parts of a whole in percent."""

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
    """A part of a whole (0 to 1) in percent, to a tenth; a dash when there is none."""
    if part is None:
        return "\u2013"
    return f"{plain((part * 100).quantize(Decimal('0.1'), rounding=ROUND_HALF_EVEN), places=1)} %"


@register.simple_tag
def change(value: Decimal | None, part: Decimal | None, *, unit: str = "") -> SafeString | str:
    """A difference with its sign, and as a part of the beginning where that is known."""
    if value is None:
        return ""
    tone = "good" if value > 0 else "bad" if value < 0 else "quiet"
    share = f" ({'+' if part > 0 else ''}{percent(part)})" if part is not None else ""
    text = f"{'+' if value > 0 else ''}{cents(value)} {unit}".rstrip()
    return format_html('<span class="change tone-{}">{}{}</span>', tone, text, share)


@register.simple_tag
def currency_link(code: str) -> SafeString:
    """The code of a currency, leading to its page."""
    if "/" in code:
        return format_html("{}", code)
    return format_html('<a href="{}" data-row-link>{}</a>', reverse("funds-currency", args=[code]), code)


@register.filter
def share_of(value: Decimal, currency: str) -> str:
    """An amount that was divided, with its currency: to eight places, where more digits say nothing to anybody."""
    return amount(value.quantize(Decimal("1e-8"), rounding=ROUND_HALF_EVEN), currency)


@register.filter
def rounded(value: Decimal | None, currency: str) -> str:
    """An amount to the usual places, for a summary beside which the exact figure is a click away; nothing for none."""
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
