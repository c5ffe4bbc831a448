"""Text that people or outsiders wrote stands isolated in every template, and its invisible characters are shown."""

import re

from tests.architecture import tree

# The last names of variables that hold such text.
WRITTEN = {
    *("reason", "comment", "note", "description", "wanted_description", "get_username", "login", "email", "device"),
    *("client_order_id", "payment_id", "public_key", "identifier", "full_name", "exchange_status", "sub_type"),
    *("detail", "error_code", "exchange_error_code", "problem", "last_problem", "probe_problem", "balances_problem"),
    *("document_uri", "tokenurl", "attribute", "data", "category", "subcategory", "name_text", "carried"),
    *("pool_name", "subversion", "errors", "warnings", "invalid_reason", "find", "text", "refusal", "warning"),
    *("remark", "obstacle", "old", "new", "message", "error", "why_not"),
}
LAST = rf"(.*\.)?({'|'.join(sorted(WRITTEN))})"
# Names that hold such text in these places, and words of our own in others.
WRITTEN_HERE = (
    r"(.*\.)?key(\.replaces)?\.label|(.*\.)?account\.name|(each|account\.account|wanted\.identifier)\.name",
    r".*\.(whole|stats|listed)\.(name|symbol|url)|(token|genesis)\.(name|symbol)|event\.row\.(subject|action)",
    r"(meaning\.)?said(\.what)?|(row|sub)\.status|row\.exchange_id|item\.(theirs|ours)|row\.address",
)
# What is followed or sent back, not read.
EXACT = re.compile(r"\b(value|href|action|id|name|for|datetime|hx-[\w-]+|data-[\w-]+)=[\"'][^\"']*$")


def displayed_fields():
    """(path:line, whole tag, variable, whether an element may stand there) of each place that shows such text."""
    for path in sorted((tree.ROOT / "templates").rglob("*.html")):
        text = path.read_text()
        for tag in re.finditer(r"\{\{\s*([\w.]+)((?:\|[^}]*)?)\s*\}\}", text):
            name = tag[1]
            facts = tag[2].startswith(("|evidence", "|transfer_target"))
            if not facts and not any(re.fullmatch(known, name) for known in (LAST, *WRITTEN_HERE)):
                continue
            before = re.sub(r"\{%.*?%\}|\{\{.*?\}\}", "", text[: tag.start()], flags=re.DOTALL)
            inside = before.rfind("<") > before.rfind(">")
            if inside and EXACT.search(before[before.rfind("<") :]):
                continue
            plain = inside or text[: tag.start()].rstrip().endswith("{% block title %}") or in_title(text, tag.start())
            yield f"{path.relative_to(tree.ROOT)}:{text.count(chr(10), 0, tag.start()) + 1}", tag, not plain


def in_title(text, at):
    """Whether the place stands in the block of the page's title or in the words of a choice."""
    opened = max(text.rfind("{% block title %}", 0, at), text.rfind("<option", 0, at))
    closed = max(text.rfind("{% endblock", 0, at), text.rfind("</option", 0, at))
    return opened > closed


def test_text_that_somebody_wrote_is_isolated_where_it_is_read():
    bare = [
        f"{where} {tag[0]}"
        for where, tag, elements in displayed_fields()
        if not re.search(r"\|isolated\s*\}\}$" if elements else r"\|revealed\s*\}\}$", tag[0])
    ]
    assert not bare, "\n".join(bare)


def test_the_places_are_found_at_all():
    found = list(displayed_fields())
    assert len(found) > 120
    assert any(not elements for _, _, elements in found)
