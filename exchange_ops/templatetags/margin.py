"""Display of margin actions, positions and the exchange's reports on them: a word, an icon, a tone, a drawing."""

from decimal import Decimal
from typing import Any, Final

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from desk.machines.display import Display
from desk.templatetags.desk import chip, plain
from exchange_ops.margin import reports
from exchange_ops.market import queries
from exchange_ops.positions import states
from exchange_ops.positions.models import MarginAction

register = template.Library()

_EVENTS: Final = {
    "asked": "Requested",
    "claimed": "Sent to the exchange",
    "stopped": "Not sent",
    "accepted": "Accepted by the exchange",
    "refused": "Rejected by the exchange",
    "not_sent": "Not sent",
    "answer_lost": "Response lost",
    "seen": "Confirmed by the exchange",
    "seen_partly": "Partly closed",
    "seen_unchanged": "Nothing changed on the exchange",
    "unexplained": "Changed, but not as requested",
    "settled": "Result recorded",
}
DISPLAY: Final = Display(states.STATES, _EVENTS).registered(register, "margin")
_REPORTS: Final = {
    "created": ("good", "Account opened", "plus"),
    "reopened": ("good", "Account reopened", "plus"),
    "updated": ("quiet", "Order changed", "file-check"),
    "marginChanged": ("quiet", "Collateral changed", "arrow-left-right"),
    "openTrade": ("active", "Position increased", "arrow-up-right"),
    "closeTrade": ("active", "Position reduced", "arrow-down-left"),
    "flipTrade": ("warn", "Position reversed", "arrow-left-right"),
    reports.CLOSED: ("quiet", "Closed", "circle-check"),
    reports.LIQUIDATED: ("bad", "Liquidated", "triangle-alert"),
    reports.INTEREST: ("warn", "Interest charged", "landmark"),
    reports.GONE: ("warn", "No longer listed", "circle-question-mark"),
}
_SIDES: Final = {True: ("good", "Long", "arrow-up-right"), False: ("bad", "Short", "arrow-down-left")}


@register.simple_tag
def position_side(quantity: Decimal) -> SafeString:
    """Long or short, as a word with an arrow and a colour."""
    tone, label, sign = _SIDES[quantity > 0]
    return chip(tone, label, sign=sign)


@register.simple_tag
def report_reason(reason: str) -> SafeString:
    """The reason of a report; an undocumented one is shown as it is."""
    tone, label, sign = _REPORTS.get(reason, ("warn", reason, "circle-question-mark"))
    return chip(tone, label, sign=sign)


@register.filter
def action_kind(row: MarginAction) -> str:
    """What an action does, in a few words."""
    return row.kind_label


@register.filter
def share(fraction: Decimal | None) -> str:
    """A fraction in percent with its sign and two digits; a dash without one."""
    percent = queries.percent_of(fraction, digits=queries.CHANGE_DIGITS)
    if percent is None:
        return "\u2013"
    return f"{'+' if percent > 0 else ''}{plain(percent, places=2)} %"


@register.filter
def slippage(fraction: Decimal | None) -> str:
    """How much worse than the best price, in percent with two digits; a dash without one."""
    percent = queries.percent_of(fraction, digits=queries.CHANGE_DIGITS)
    return "\u2013" if percent is None else f"{plain(percent, places=2)} %"


@register.filter
def away(fraction: Decimal | None) -> str:
    """How far a price is away: "12.30 % away", or that it is passed."""
    percent = queries.percent_of(fraction, digits=queries.CHANGE_DIGITS)
    if percent is None:
        return ""
    return "passed" if percent <= 0 else f"{plain(percent, places=2)} % away"


@register.simple_tag
def margin_way(way: Any, label: str) -> SafeString:
    """The range from liquidation to mark as a drawing, letters below and the mark above. `label` says it in words."""
    call = way.liquidation if way.call is None else way.call
    zones = format_html_join(
        "",
        '<rect class="{}" x="{}%" y="13" width="{}%" height="8"/>',
        (
            ("zone-base", 0, 100),
            ("zone-bad", way.liquidation, max(call - way.liquidation, Decimal(0))),
            ("zone-warn", call, way.until_entry),
        ),
    )
    ticks = format_html_join(
        "",
        '<rect class="tick" x="{}%" y="10" width="2" height="14"/><text x="{}%" y="34" text-anchor="{}">{}</text>',
        ((point.x, point.x, point.anchor, point.letter) for point in way.points),
    )
    mark = format_html(
        '<circle class="mark" cx="{}%" cy="17" r="5"/>'
        '<text class="mark-letter" x="{}%" y="8" text-anchor="middle">M</text>',
        way.mark,
        way.mark,
    )
    return format_html(
        '<svg class="way" role="img" aria-label="{}" height="36">{}{}{}</svg>', label, zones, ticks, mark
    )
