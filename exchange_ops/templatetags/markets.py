"""Formatting of prices, changes and quantities of markets. Prices are exact; a share or a volume may be rounded."""

from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from desk.templatetags.desk import ago, iso, plain
from exchange_ops.market import queries, topics
from wire.values import decimal_text

register = template.Library()

NOTHING = "\u2013"  # for a figure that the exchange did not send; a template passes "" when the row is missing too
_DIGITS = 5
_WAYS = {1: ("good", "\u2191", "+"), -1: ("bad", "\u2193", "\u2212"), 0: ("quiet", "\u2192", "")}
_SIDES = {"buy": ("good", "\u2191", "Buy"), "sell": ("bad", "\u2193", "Sell")}


@register.filter
def price(value: Decimal | str | None, step: Decimal | None = None) -> str:
    """A price or quantity with as many digits after the point as its step has; finer ones keep all digits."""
    if value is None or value == "":
        return NOTHING
    return plain(Decimal(value), places=places(step))


@register.filter
def places(step: Decimal | None) -> int:
    """Digits after the point of a tick size or increment."""
    return queries.places_of(step)


@register.filter
def exact(value: Decimal | None) -> str:
    """A figure for scripts: all digits, not grouped; empty if there is none."""
    return decimal_text(value) if isinstance(value, Decimal) else ""


@register.filter
def brief(value: Decimal | str | None) -> str:
    """A volume in about five digits: 1,234,568 or 12.346 or 0.0012346."""
    if not isinstance(value, Decimal):
        return NOTHING
    exponent = min(value.adjusted() - _DIGITS + 1, 0) if value else 0
    return plain(value.quantize(Decimal(1).scaleb(exponent), rounding=ROUND_HALF_EVEN))


@register.simple_tag
def change(fraction: Decimal | None) -> SafeString:
    """A change in percent with its sign and an arrow, readable without colour."""
    percent = queries.percent_of(fraction, digits=queries.CHANGE_DIGITS)
    if percent is None:
        return format_html('<span class="muted">{}</span>', NOTHING)
    tone, arrow, sign = _WAYS[(percent > 0) - (percent < 0)]
    text = f"{sign}{plain(abs(percent), places=queries.CHANGE_DIGITS)}"
    return format_html('<span class="figure tone-{}"><span aria-hidden="true">{} </span>{} %</span>', tone, arrow, text)


@register.filter
def percent(fraction: Decimal | None, digits: int = queries.SPREAD_DIGITS) -> str:
    """A fraction in percent, rounded to so many digits after the point."""
    share = queries.percent_of(fraction, digits=digits)
    return NOTHING if share is None else f"{plain(share)} %"


@register.simple_tag
def side(name: str) -> SafeString:
    """The taker's side of a trade as an arrow and a word; an unknown side is shown as it is."""
    tone, arrow, word = _SIDES.get(name, ("quiet", "", name))
    return format_html('<span class="nowrap tone-{}"><span aria-hidden="true">{} </span>{}</span>', tone, arrow, word)


@register.simple_tag
def reach(total: Decimal, full_size: Decimal) -> SafeString:
    """A thin bar for the share of `total` in `full_size`; the figure is beside it."""
    share = min(total / full_size, Decimal(1)) * 100 if full_size else Decimal(0)
    width = f"{share:.1f}"
    return format_html('<svg class="reach" aria-hidden="true"><rect width="{}%" height="100%"/></svg>', width)


@register.simple_tag
def read_ago(read_at: datetime | None, now: datetime, kind: str) -> SafeString:
    """How long ago something was read, counting while the page is open; a tick of this kind resets it."""
    if not read_at:
        return format_html('<time class="nowrap" data-age="{}">never</time>', kind)
    texts = (iso(read_at), kind, ago(min(read_at, now), now))
    return format_html('<time class="nowrap" datetime="{}" data-local data-age="{}">{}</time>', *texts)


@register.filter
def topic(code: str) -> str:
    """The topic of this symbol's ticker."""
    return topics.topic(code)
