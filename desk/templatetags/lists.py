"""The cells of a list: written once for every column, drawn for those that the person chose."""

from datetime import datetime
from typing import Any

from django import template
from django.template.base import FilterExpression, NodeList, Parser, Token
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from desk.templatetags.desk import iso

register = template.Library()


class Cell(template.Node):
    """What stands between `cell` and `endcell`, as a cell of the column, when that column is shown."""

    def __init__(self, name: FilterExpression, content: NodeList) -> None:
        self.name, self.nodelist = name, content

    def render(self, context: template.Context) -> SafeString:
        listing, name = context["list"], self.name.resolve(context)
        if name not in listing.column_names:
            return mark_safe("")
        opening, closing = _tags(listing, name)
        return SafeString(f"{opening}{self.nodelist.render(context)}{closing}")


def _tags(listing: Any, name: str) -> tuple[str, str]:
    """The tags around a cell, made once for a page."""
    tags: dict[str, tuple[str, str]] = listing.__dict__.setdefault("_cell_tags", {})
    if name not in tags:
        column = next(one for one in listing.columns if one.name == name)
        classes = " ".join(filter(None, (column.css, "end" if column.is_end else "", "mono" if column.is_mono else "")))
        label = column.on_phone or ("" if column.css else column.head)
        head = format_html(' data-head="{}"', label) if label else ""
        tag = "th" if column is listing.columns[0] else "td"
        scope = ' scope="row"' if tag == "th" else ""
        tags[name] = f'<{tag}{scope} class="{classes or "l-more"}"{head}>', f"</{tag}>"
    return tags[name]


@register.tag("cell")
def cell(parser: Parser, token: Token) -> Cell:
    """`{% cell "amount" %}...{% endcell %}`: a cell of that column, left out when it isn't shown."""
    _, name = token.split_contents()
    content = parser.parse(("endcell",))
    parser.delete_first_token()
    return Cell(parser.compile_filter(name), content)


@register.simple_tag(takes_context=True)
def listed_time(context: dict[str, Any], when: datetime | None, *, seconds: bool = False) -> SafeString:
    """A moment in the zone of the list, to the minute or second; the hour of this device comes on hover."""
    if when is None:
        return mark_safe('<span class="muted">&ndash;</span>')
    text = when.astimezone(context["list"].zone).strftime(f"%Y-%m-%d %H:%M{':%S' if seconds else ''}")
    return format_html('<time class="nowrap" datetime="{}" data-local>{}</time>', iso(when), text)


@register.filter
def thousands(count: int) -> str:
    """A whole number with its thousands separated."""
    return f"{count:,}"
