"""What the scripts need of the templates: a part that can be in use says what it was drawn for and when it is old."""

import re
from pathlib import Path

import pytest
from django.conf import settings

TEMPLATES = Path(settings.BASE_DIR) / "templates"
INCLUDED = re.compile(r'{% include "([^"]+)"')


def whole(path):
    """The text of a template with everything that it includes by name."""
    text = (TEMPLATES / path).read_text()
    return text + "".join(whole(name) for name in INCLUDED.findall(text))


def parts_in_use():
    """The live parts with a field to type in, or with a refusal that somebody has to read."""
    for path in sorted(TEMPLATES.rglob("*.html")):
        name = str(path.relative_to(TEMPLATES))
        text = path.read_text()
        if "data-follow=" in text and 'hx-trigger="hint"' in text and ("{% field" in whole(name) or "refusal" in text):
            yield name


def test_some_parts_can_be_in_use():
    assert {"exchange_ops/withdrawal/_decide.html", "exchange_ops/order/_act.html"} < set(parts_in_use())


@pytest.mark.parametrize("name", list(parts_in_use()))
def test_a_part_that_can_be_in_use_says_when_it_is_out_of_date(name):
    text = (TEMPLATES / name).read_text()
    assert "data-drawn-for=" in text, "without it every reading would look like a change, and the buttons would rest"
    assert re.search(r'<div hidden data-stale-note role="status">', text)
