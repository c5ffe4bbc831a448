"""What templates need for the chain: links to what is on it, hashes, how fresh a figure is."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from urllib.parse import quote

from django import template
from django.conf import settings
from django.template import Context
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from chaindata.explorer.search import Place
from chaindata.shared import addresses
from chaindata.shared.addresses import NotAnAddress, printed
from chaindata.shared.pages import PartFreshness
from chaindata.tokens import tokens
from chaindata.wire.hashing import is_display_hex
from desk.personal import formats
from desk.templatetags.desk import ago, chip, copy, icon, iso, plain, shortened

register = template.Library()

CURRENCIES = frozenset({"BCH"})  # those whose transactions and addresses are on this chain
ADDRESS, TRANSACTION, BLOCK = "address", "tx", "block"
LOOKS_EVERY_S = 20  # an answer that nobody has read for a minute is not fetched again
_FRESHNESS_CHIPS = {
    "stale": ("quiet", "refreshing", "refresh-cw"),
    "absent": ("quiet", "loading", "loader"),
    "failed": ("warn", "sync failed", "unplug"),
    "refused": ("warn", "rejected", "circle-x"),
}
_TIPS = {
    "active": ("good", "Active", "circle-check"),
    "valid-fork": ("warn", "Side branch, valid", "circle-dot"),
    "valid-headers": ("quiet", "Side branch, headers valid", "circle-dashed"),
    "headers-only": ("quiet", "Headers only", "circle-dashed"),
    "invalid": ("bad", "Invalid", "circle-x"),
    "parked": ("warn", "Parked", "circle-pause"),
}

_VERDICTS = {
    "valid": ("good", "Valid", "circle-check"),
    "invalid": ("bad", "Invalid", "circle-x"),
    "not loaded yet": ("quiet", "Not loaded yet", "circle-question-mark"),
}


@register.simple_tag
def chain_link(kind: str, value: str, currency: str = "BCH", *, ends: int = 8, copied: bool = True) -> SafeString:
    """A hash or an address, shortened in the middle, with a copy button; one of this chain links to its page.

    `kind` is "tx", "address" or "block"; `ends` 0 shows all of it. What can't be one on this chain stays a text.
    """
    if not value:
        return SafeString("")
    place = _place(kind, value) if currency in CURRENCIES else ""
    if kind == ADDRESS and place:
        value = addresses.display_form(value)
    button = copy(value, what="address" if kind == ADDRESS else "hash") if copied else ""
    text, css = (shortened(value, ends), "nowrap") if ends else (value, "wrap")
    if not place:
        outside = explorer_link(kind, value, currency, is_short=True)
        plain_text = '<span class="{}"><span class="mono" title="{}">{}</span>{}{}</span>'
        return format_html(plain_text, css, value, text, button, outside)
    link = format_html('<a class="mono" href="{}" title="{}">{}</a>', place, value, text)
    return format_html('<span class="{}">{}{}</span>', css, link, button)


@register.simple_tag
def chain_page(kind: str, value: str, currency: str = "BCH") -> SafeString:
    """A small link to the page of a hash or address shown beside it; for another coin to its public explorer."""
    place = _place(kind, value) if currency in CURRENCIES else ""
    if not place:
        return explorer_link(kind, value, currency)
    return format_html('<a class="small nowrap" href="{}">{} On-chain</a>', place, icon("link"))


@register.simple_tag
def explorer_link(kind: str, value: str, currency: str, *, is_short: bool = False) -> SafeString:
    """A link to the public explorer of a coin that is not on this chain; empty if the settings name none.

    It opens in another tab and sends no referrer.
    """
    explorer = settings.EXPLORERS.get(currency)
    template_of = {TRANSACTION: "transaction", ADDRESS: "address"}.get(kind, "")
    pattern = getattr(explorer, template_of, "") if explorer and currency not in CURRENCIES else ""
    if not pattern or not value:
        return SafeString("")
    url = pattern.replace("{tx}", quote(value, safe="")).replace("{address}", quote(value, safe=""))
    words = '<span class="unseen">Public explorer</span>' if is_short else " Public explorer"
    link = '<a class="small nowrap{}" href="{}" target="_blank" rel="noopener noreferrer" title="{}">{}{}</a>'
    css = " copy" if is_short else ""  # as large and as quiet as the button beside it
    return format_html(link, css, url, "Public explorer", icon("external-link"), mark_safe(words))  # noqa: S308  # ours


@register.simple_tag
def block_at(named: str | int | None) -> str:
    """The page of a block by hash or height; the first page of the chain if the text can be neither."""
    try:
        return reverse("chain-block", args=[named])
    except NoReverseMatch:
        return reverse("chain")


@register.filter
def on_chain(currency: str) -> bool:
    """Whether this currency is on the chain that the desk follows."""
    return currency in CURRENCIES


@register.simple_tag
def chain_age(freshness: PartFreshness, now: datetime) -> SafeString:
    """How old and how fresh a part is, in a few words for its head."""
    parts = []
    if freshness.word in _FRESHNESS_CHIPS:
        tone, label, sign = _FRESHNESS_CHIPS[freshness.word]
        parts.append(chip(tone, label, sign=sign))
    if freshness.is_final:
        parts.append(chip("quiet", "final", sign="lock"))
    if freshness.read_at is not None:
        age = (iso(freshness.read_at), ago(min(freshness.read_at, now), now))
        parts.append(format_html('<span>synced <time data-age data-local datetime="{}">{}</time></span>', *age))
    return format_html('<p class="c-age small muted">{}</p>', format_html_join("", "{}", ((part,) for part in parts)))


@register.simple_tag(takes_context=True)
def live(context: Context, freshness: PartFreshness) -> SafeString:
    """The attributes of a part that is loaded again from the page's own URL when one of its readings has changed.

    Unless it is final it also reloads by itself, which tells the workers that somebody is still interested.
    """
    again = "hint" if freshness.is_final else f"hint, every {LOOKS_EVERY_S}s"
    attributes = 'data-follow="{}" data-background hx-get="{}" hx-trigger="{}" hx-swap="outerHTML"'
    return format_html(attributes, freshness.topics, context["request"].get_full_path(), again)


@register.simple_tag(takes_context=True)
def page_query(context: Context, name: str, number: int) -> str:
    """The query of the page with another page number for one of its lists."""
    query = context["request"].GET.copy()
    query[name] = str(number)
    return f"?{query.urlencode()}"


@register.simple_tag
def tip_status(word: str) -> SafeString:
    """What the node says of the end of a branch; an unknown word is shown as it is."""
    tone, label, sign = _TIPS.get(word, ("quiet", word, "circle-question-mark"))
    return chip(tone, label, sign=sign)


@register.simple_tag
def verdict(word: str) -> SafeString:
    """Whether the layer accepts a message, as a chip."""
    if word not in _VERDICTS:
        return SafeString("")
    tone, label, sign = _VERDICTS[word]
    return chip(tone, label, sign=sign)


@register.simple_tag
def token_link(token_id: str, *, name: str = "") -> SafeString:
    """A link to a token by its name or its id: both ends of a long id, a number as property or collectible."""
    label = name or (shortened(token_id) if len(token_id) == 64 else token_id.replace("-", " "))
    if token_id.isdigit():
        label = f"property {token_id}" + (f", {name}" if name else "")
    if not tokens.kind_of(token_id):
        return format_html("{}", label)
    return format_html('<a href="{}" title="{}">{}</a>', reverse("chain-token", args=[token_id]), token_id, label)


@register.simple_tag
def spoken(text: str) -> SafeString:
    """A text in a message; an address links to its page."""
    try:
        return chain_link(ADDRESS, printed(text), ends=10)
    except NotAnAddress:
        return format_html("{}", text)


@register.simple_tag
def place_link(place: Place) -> SafeString:
    """A search hit on the chain, as a line that links to its page."""
    line = '<a href="{}" data-row-link><span class="i-amount">{}</span><span class="i-to mono">{}</span>{}</a>'
    mark = "" if place.is_certain else chip("quiet", "not loaded yet", sign="circle-question-mark")
    return format_html(line, place.url, place.words, shortened(place.name, 16), mark)


@register.filter
def at(table: Mapping[int | str, str], place: int | str) -> str:
    """The entry of a mapping for this key, or nothing."""
    return table.get(place, "")


@register.filter
def half(value: int) -> int:
    """Two digits of hexadecimal are a byte."""
    return value // 2


@register.filter
def rest_of_hundred(value: int) -> int:
    """The difference to a hundred."""
    return 100 - value


@register.filter
def coins(value: Decimal | None) -> str:
    """An amount in coins with its eight places."""
    return "\u2013" if value is None else plain(value, places=8)


@register.filter
def grouped(value: int | None) -> str:
    """A count or a size, grouped by thousands."""
    return "\u2013" if value is None else formats.figure(Decimal(value), mark=formats.current().mark)


@register.filter
def short(value: Decimal | None) -> str:
    """A number without a unit, such as a difficulty: exact if it is short, else with six digits."""
    if value is None:
        return "\u2013"
    text = plain(value)
    return text if len(text) <= 15 else f"{value:.6g}".lower()


def _place(kind: str, value: str) -> str:
    """The URL of its page; empty if it can't have one."""
    if kind == ADDRESS:
        try:
            return reverse("chain-address", args=[printed(value)])
        except NotAnAddress:
            return ""
    if not is_display_hex(value):
        return ""
    return reverse("chain-transaction" if kind == TRANSACTION else "chain-block", args=[value])
