"""What templates need for tokens: amounts, the minting baton, how a property is issued; and for broadcasts."""

from decimal import Decimal

from django import template
from django.template import Context
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from chaindata.broadcasts import states
from chaindata.shared.pages import PartFreshness
from chaindata.templatetags.chain import LOOKS_EVERY_S
from chaindata.wire import decoding
from chaindata.wire.records.tokens import Property
from desk.machines.display import Display
from desk.templatetags.desk import chip, plain, shortened

register = template.Library()
Display(states.STATES).registered(register, state="broadcast_state")

_BATONS = {
    "ALIVE": ("active", "Alive", "key-round", "The baton holder can mint more tokens."),
    "NEVER_CREATED": ("quiet", "Never created", "lock", "The initial supply is final."),
    "DEAD_ENDED": ("quiet", "Ended", "lock", "The last mint gave up the baton: no more tokens can be minted."),
    "DEAD_BURNED": ("quiet", "Burned", "flame", "The baton was spent outside a mint: no more tokens can be minted."),
}
_UNKNOWN = ("quiet", "Not reported", "circle-question-mark", "Not reported by the service.")
_EVENTS = {
    "asked": ("Requested", "stamp"),
    "claimed": ("Sending started", "send"),
    "accepted": ("Accepted by the node", "circle-check"),
    "found": ("On the network", "circle-check"),
    "refused": ("Rejected by the node", "circle-x"),
    "not_sent": ("Not sent", "ban"),
    "stopped": ("Stopped before sending", "ban"),
    "answer_lost": ("Response lost", "unplug"),
    "not_seen": ("Not on the network", "circle-question-mark"),
}


@register.simple_tag
def tokens(value: Decimal | None, unit: str = "") -> SafeString:
    """An amount of tokens, exact and grouped; a dash if it is not known."""
    if value is None:
        return format_html('<span class="figure muted">{}</span>', "\u2013")
    text = f"{plain(value)} {unit}".rstrip()
    return format_html('<span class="figure{}">{}</span>', "" if value else " nil", text)


@register.simple_tag
def block_link(named: int | str, *, label: str = "", at_height: int | None = None) -> SafeString:
    """A link to a block by height or hash; a number that no block can have stays a text."""
    height = named if at_height is None else at_height
    words = f"{label} {plain(Decimal(height)) if isinstance(height, int) else shortened(height)}".strip()
    try:
        return format_html('<a href="{}">{}</a>', reverse("chain-block", args=[named]), words)
    except NoReverseMatch:
        return format_html("{}", words)


@register.simple_tag
def percent(share: Decimal | None) -> str:
    """A share between 0 and 1 in percent, with two decimals."""
    if share is None:
        return "\u2013"
    hundredths = (share * 100).quantize(Decimal("0.01"))
    return "below 0.01 %" if share and not hundredths else f"{hundredths:f} %"


@register.simple_tag
def baton(status: str | None) -> SafeString:
    """What became of the right to mint."""
    tone, label, sign, _ = _BATONS.get(status or "", _UNKNOWN)
    return chip(tone, label, sign=sign)


@register.simple_tag
def baton_words(status: str | None) -> str:
    """The same in a sentence."""
    return _BATONS.get(status or "", _UNKNOWN)[3]


@register.simple_tag
def issued(record: Property | None) -> str:
    """How tokens of a property are issued."""
    if record is None:
        return ""
    if record.propertyid == 1:
        return "by burning coins"
    if record.fixedissuance:
        return "once"
    return "by its issuer" if record.managedissuance else "in a crowdsale"


@register.filter
def sat_coins(value_sat: int | None) -> str:
    """Satoshis as coins, with eight places."""
    return "\u2013" if value_sat is None else plain(decoding.coins(value_sat), places=8)


@register.filter
def broadcast_event(action: str) -> str:
    """What happened to a broadcast, for an action of the audit trail."""
    return _EVENTS.get(action.rpartition(".")[2], (action, ""))[0]


@register.filter
def broadcast_sign(action: str) -> str:
    """The icon for such an action."""
    return _EVENTS.get(action.rpartition(".")[2], ("", "circle-dot"))[1]


def _again_at(context: Context) -> str:
    """The URL that explains the page's bytes, which is not always that of the page."""
    return str(context.get("again_at") or context["request"].path)


@register.simple_tag(takes_context=True)
def live_form(context: Context, freshness: PartFreshness, *, looks: bool = True) -> SafeString:
    """The attributes of a part of a page that answers a form: it is loaded again with the same bytes.

    Only the bytes are sent, and only to the URL that explains them: a part never sends what was typed in it. Without
    `looks` it reloads only on a hint, so that nothing is replaced under somebody who types.
    """
    again = f"hint, every {LOOKS_EVERY_S}s" if looks and not freshness.is_final else "hint"
    attributes = (
        'data-follow="{}" data-background hx-post="{}" hx-include="find input[name=hex]" '
        'hx-trigger="{}" hx-swap="outerHTML"'
    )
    return format_html(attributes, freshness.topics, _again_at(context), again)
