"""The parts that every page is made of: icons, figures, addresses, times, notes, fields. A builtin of every template.

A tag takes only the arguments that it names, so a misspelt one is an error at the first look, not a silent default.
Figures stay Decimal and exact; nothing here rounds, and nothing a person typed leaves unescaped. Hours and figures are
written as whoever reads the page wishes (`desk.personal.formats`), what is kept or sent as everybody reads it.
"""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import groupby, zip_longest
from typing import Any
from urllib.parse import quote

from django import template
from django.forms import BaseForm, BoundField, CheckboxInput
from django.template import Context
from django.templatetags.static import static
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from desk import invisible
from desk.personal import formats
from desk.rows import fingerprint as fingerprints
from desk.templatetags.terms import TERMS

register = template.Library()

SPRITE = "vendor/lucide-1.62.0/sprite.svg"
TONES = {
    "quiet": "circle-dot",
    "active": "info",
    "good": "circle-check",
    "warn": "triangle-alert",
    "bad": "circle-alert",
}
_MESSAGE_TONES = {"debug": "quiet", "info": "active", "success": "good", "warning": "warn", "error": "bad"}
# Currencies that are money elsewhere show cents; coins show at least four digits after the point.
_CENTS = frozenset({"USD", "EUR", "GBP", "USDT", "USDT20", "USDC", "DAI"})


@register.simple_tag
def icon(name: str, *, label: str = "", large: bool = False) -> SafeString:
    """One icon of the sprite; with a `label` it speaks for itself, without one it is silent beside its word."""
    css = "icon icon-l" if large else "icon"
    use = format_html('<use href="{}#{}"></use>', static(SPRITE), name)
    if label:
        return format_html('<svg class="{}" role="img" aria-label="{}">{}</svg>', css, label, use)
    return format_html('<svg class="{}" aria-hidden="true" focusable="false">{}</svg>', css, use)


@register.filter
def fingerprint(digest: str) -> str:
    """The four words of a digest."""
    return fingerprints.words(digest)


@register.simple_tag
def chip(tone: str, label: str, *, sign: str = "") -> SafeString:
    """A state: an icon and a word in the tone's colour. `sign` names the icon when the tone's own won't do."""
    return format_html('<span class="chip tone-{}">{}{}</span>', tone, icon(sign or TONES[tone]), label)


@register.simple_block_tag
def note(content: str, tone: str) -> SafeString:
    """A framed remark that stands in the page; `tone` is one of ours or the level of a Django message."""
    named = _MESSAGE_TONES.get(tone.rsplit(maxsplit=1)[-1] if tone else "", tone)
    return format_html('<div class="note tone-{}">{}<div>{}</div></div>', named, icon(TONES[named]), content)


def plain(value: Decimal, *, places: int = 0) -> str:
    """All significant digits of `value`, grouped by thousands, with at least `places` digits after the point."""
    return formats.figure(value, places=places, mark=formats.current().mark)


def usual_places(currency: str) -> int:
    """How many digits after the point people expect of this currency at least."""
    return 2 if currency in _CENTS else 4


@register.filter
def amount(value: Decimal | None, currency: str = "") -> str:
    """An amount as text, with its currency when one is given: "1,234.5600 BCH"; a dash when there is none."""
    if value is None:
        return "\u2013"
    return f"{plain(value, places=usual_places(currency))} {currency}".rstrip()


def kept_amount(value: Decimal, currency: str) -> str:
    """The same for a sentence that is kept or sent: grouped by commas, whoever caused it."""
    return f"{formats.figure(value, places=usual_places(currency))} {currency}"


@register.filter
def cents(value: Decimal | None) -> str:
    """A value as `formats.cents` writes it; a dash when there is none."""
    return "\u2013" if value is None else formats.cents(value, mark=formats.current().mark)


@register.simple_tag
def figure(
    value: Decimal | None, *, unit: str = "", currency: str = "", places: int = 8, plus: bool = False
) -> SafeString:
    """An amount for a column: padded to `places` so that points stand below each other, the padding held back.

    `unit` is shown behind it; `currency` only says how many digits are usual.
    """
    if value is None:
        return mark_safe('<span class="figure muted">\u2013</span>')
    digits = plain(value, places=min(usual_places(unit or currency), places) if places else 0)
    point = digits.rpartition(".")[2] if "." in digits else ""
    padding = "0" * max(0, places - len(point))
    if padding and "." not in digits:
        padding = f".{padding}"
    sign = "+" if plus and value > 0 else ""
    tail = format_html('<span class="rest" aria-hidden="true">{}</span>', padding) if padding else ""
    named = format_html('<span class="unit">{}</span>', unit) if unit else ""
    return format_html('<span class="figure{}">{}{}{}{}</span>', "" if value else " nil", sign, digits, tail, named)


@register.simple_tag
def address(text: str, *, copied: bool = True, what: str = "address") -> SafeString:
    """A whole address in groups of four: the gaps are drawn, not typed, so that copying gives the address itself."""
    prefix, colon, rest = text.rpartition(":")
    groups = ([prefix + colon] if colon else []) + [rest[i : i + 4] for i in range(0, len(rest), 4)]
    parts = format_html_join("", "<span>{}</span>", ((group,) for group in groups))
    return format_html('<span class="address">{}</span>{}', parts, copy(text, what=what) if copied else "")


@register.simple_tag
def marked(text: str, *, beside: str) -> SafeString:
    """The text with every character marked that is not the one at the same place of `beside`; "none" when empty."""
    if not text:
        return format_html("<mark>{}</mark>", "none")
    runs = groupby(zip_longest(text, beside[: len(text)]), key=lambda pair: pair[0] != pair[1])
    pieces = ((differs, "".join(pair[0] for pair in run)) for differs, run in runs)
    return format_html_join(
        "", "{}", ((format_html("<mark>{}</mark>", piece) if differs else piece,) for differs, piece in pieces)
    )


@register.filter
def shortened(text: str, ends: int = 8) -> str:
    """Both ends of a long text for a list; the whole stands in the title and on the page behind the link."""
    return text if len(text) <= 2 * ends + 1 else f"{text[:ends]}\u2026{text[-ends:]}"


@register.simple_tag
def copy(text: str, *, what: str) -> SafeString:
    """A button that copies the full value; without scripts it stays away."""
    return format_html(
        '<button class="copy" type="button" data-copy="{}" data-unready>{}</button>',
        text,
        icon("copy", label=f"Copy {what}"),
    )


@register.filter
def iso(when: datetime | None) -> str:
    """The moment for machines, in UTC with milliseconds."""
    return when.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z") if when else ""


@register.filter
def instant(when: datetime | None) -> str:
    """The moment for people: "2026-11-20 14:23:05 UTC", or "2026-11-20 15:23:05 UTC+1" where they live."""
    return formats.current().written(when, "%Y-%m-%d %H:%M:%S") if when else "never"


@register.filter
def hour(when: datetime | None) -> str:
    """The hour and minute of a moment: "14:23 UTC"."""
    return formats.current().written(when, "%H:%M") if when else "never"


@register.filter
def second(when: datetime | None) -> str:
    """The time of day to the second, in a column or line that says of which zone it is: "14:23:05"."""
    return formats.current().here(when).strftime("%H:%M:%S") if when else "never"


@register.filter
def second_of_day(when: datetime | None) -> str:
    """The same with its zone: "14:23:05 UTC"."""
    return formats.current().written(when, "%H:%M:%S") if when else "never"


@register.simple_tag
def zone_name() -> str:
    """What the head of a column of hours says: "UTC", or "Berlin time"."""
    return formats.current().column()


@register.simple_tag
def sample_figure() -> str:
    """A number large enough to show how the reader's are grouped."""
    return plain(Decimal("1234567.89"))


@register.filter
def hour_from(when: datetime, now: datetime) -> str:
    """The hour of a moment, with its day where that is another one: "14:23 UTC", "2026-11-26 14:23 UTC"."""
    form = formats.current()
    is_today = form.here(when).date() == form.here(now).date()
    return form.written(when, "%H:%M" if is_today else "%Y-%m-%d %H:%M")


@register.filter("left")
def time_left(deadline: datetime | None, now: datetime) -> str:
    """What is left until a deadline, as the countdown writes it: "3 d left", "18 min left", "1:05 left"."""
    seconds = int((deadline - now).total_seconds()) if deadline else 0
    if seconds <= 0:
        return "expired"
    if seconds >= 2 * 3600:
        return f"{seconds // 86_400} d left" if seconds >= 2 * 86_400 else f"{seconds // 3600} h left"
    return f"{seconds // 60} min left" if seconds >= 120 else f"{seconds // 60}:{seconds % 60:02} left"


@register.simple_tag
def moment(when: datetime | None, *, now: datetime | None = None) -> SafeString:
    """A moment (another zone's hour comes on hover), with its age beside it when `now` is given."""
    if when is None:
        return mark_safe('<span class="muted">never</span>')
    beside = format_html(' <span class="muted">{}</span>', running(when, now)) if now else ""
    return format_html('<time class="nowrap" datetime="{}" data-local>{}</time>{}', iso(when), instant(when), beside)


@register.simple_tag
def minute(when: datetime | None) -> SafeString:
    """A moment in a column whose head says `zone_name`: to the minute, the whole of it on hover."""
    if when is None:
        return mark_safe('<span class="muted">never</span>')
    text = formats.current().here(when).strftime("%Y-%m-%d %H:%M")
    return format_html('<time class="nowrap" datetime="{}" data-local>{}</time>', iso(when), text)


def ago(when: datetime | None, now: datetime) -> str:
    """How long ago, or how far ahead, in the largest whole unit: "12 s ago", "in 4 min"."""
    if when is None:
        return "never"
    # What was read while the page was being drawn is a moment ahead of the page's own hour.
    if when - now >= timedelta(seconds=1):
        return f"in {span(when - now)}"
    return f"{span(max(now - when, timedelta()))} ago"


@register.filter("ago")
def running(when: datetime | None, now: datetime) -> str:
    """How long ago, which the page counts on by itself (static/js/page.js); "never" without a moment."""
    if when is None:
        return "never"
    text = '<time class="nowrap" data-age data-local datetime="{}">{}</time>'
    return format_html(text, iso(when), ago(when, now))


@register.simple_tag
def age(when: datetime | None, now: datetime) -> SafeString:
    """The same as a tag."""
    return format_html("{}" if when else '<span class="muted">{}</span>', running(when, now))


@register.filter
def span(length: timedelta | int | None) -> str:
    """A length of time in its largest whole unit."""
    if length is None:
        return "unknown"
    seconds = int(length.total_seconds() if isinstance(length, timedelta) else length)
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{seconds // unit} {name}"
    return f"{seconds} s"


@register.inclusion_tag("components/field.html", takes_context=True)
def field(
    context: Context,
    bound: BoundField,
    *,
    hint: str = "",
    css: str = "",
    describe: str = "",
    inputmode: str = "",
    needed: bool = False,
    live: bool = False,
) -> dict[str, Any]:
    """A field with its label, hint and errors, tied together for those who listen; `describe` adds a further id.

    `live`: what is wrong is said beside it while it is typed (components/field_states.html), so its place is there.
    The code beside a passkey gives way to a sentence for a person whose role requires the passkey.
    """
    name = bound.auto_id or bound.html_name
    hint = hint or str(bound.help_text)
    described = [f"{name}-hint"] if hint else []
    described += [f"{name}-wrong"] if bound.errors or live else []
    described += [describe] if describe else []
    attributes: dict[str, str | bool] = {
        key: value for key, value in (("class", css), ("inputmode", inputmode)) if value
    }
    if described:
        attributes["aria-describedby"] = " ".join(described)
    if bound.errors:
        attributes["aria-invalid"] = "true"
    if bound.form.is_bound:
        # A person wrote it: no reading of the page may take it away (static/js/fragments.js).
        attributes["data-typed"] = True
    return {
        "field": bound,
        "control": bound.as_widget(attrs=attributes),
        "hint": hint,
        "live": live,
        "name": name,
        "passkey_only": _passkey_only(context, bound),
        "optional": not (bound.field.required or needed),
        "tick": isinstance(bound.field.widget, CheckboxInput),
    }


def _passkey_only(context: Context, bound: BoundField) -> str:
    """Why this field, a code that a passkey can stand for, is not offered; empty where it is."""
    is_choice = bound.name == "code" and "passkey" in bound.form.fields
    return str((context.get("desk") or {}).get("passkey_only", "")) if is_choice else ""


@register.inclusion_tag("components/kept_words.html")
def kept_words(form: BaseForm, offered: object) -> dict[str, Any]:
    """The comment or reason of a refused form that is not `offered` any more, so that what was written is not lost."""
    if offered or not form.is_bound:
        return {}
    return {"words": next((form[name].value() for name in ("comment", "reason") if name in form.fields), "")}


@register.inclusion_tag("components/terms.html")
def terms(*names: str) -> dict[str, Any]:
    """What the terms of a page mean, to open at its foot. An unknown name is an error."""
    return {"terms": {name: TERMS[name] for name in names}}


@register.inclusion_tag("components/thread.html")
def thread(subject: str) -> dict[str, Any]:
    """The remarks on something that waits for people, read as soon as the page stands."""
    name, _, number = subject.partition(":")
    return {"name": name, "number": int(number)}


@register.simple_tag
def bar(share: Decimal | None, *, label: str) -> SafeString:
    """A thin bar for a share between 0 and 1, with its words for those who can't see it."""
    width = min(max(share or Decimal(0), Decimal(0)), Decimal(1)) * 100
    return format_html(
        '<svg class="share" role="img" aria-label="{}"><rect width="{}%" height="100%"/></svg>',
        conditional_escape(label),
        f"{width:.2f}",
    )


@register.filter
def isolated(text: object) -> SafeString:
    """Text that a person or an outsider wrote: it can't turn what stands around it, and its tricks are seen."""
    return invisible.isolated("" if text is None else text)


@register.filter
def revealed(text: object) -> str:
    """The same where no element can stand: in a title, a label that is read aloud, the name of a choice."""
    return invisible.revealed("" if text is None else str(text))


@register.filter
def words(name: str) -> str:
    """A column's name as words: "payment id"."""
    return name.replace("_", " ")


@register.filter
def in_path(text: str) -> str:
    """Text as one segment of an address of ours."""
    return quote(text, safe="")
