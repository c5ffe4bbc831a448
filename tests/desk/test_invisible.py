"""Characters that show nothing: each has a mark, what is exact stays exact, nothing else is touched."""

import unicodedata

import pytest
from django.http import HttpResponse, StreamingHttpResponse
from django.template import Context, Template
from django.utils.safestring import mark_safe

from desk import invisible

# Signs of Arabic, Syriac, Kaithi and Egyptian writing are format characters that are seen.
SEEN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)}


def test_every_format_and_control_character_has_a_mark():
    unmarked = [
        f"U+{code:04X}"
        for code in range(0x110000)
        if unicodedata.category(chr(code)) in {"Cc", "Cf", "Zl", "Zp", "Cs"}
        and chr(code) not in "\t\n\r"
        and code not in SEEN
        and invisible.revealed(f"a{chr(code)}b") == f"a{chr(code)}b"
    ]
    assert not unmarked


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("pay \u202eHCB 5.0", "pay \u2039RLO\u203aHCB 5.0"),
        ("\u2067abc\u2069", "\u2039RLI\u203aabc\u2039PDI\u203a"),
        ("US\u200bDT", "US\u2039ZWSP\u203aDT"),
        ("bell\x07 \x85", "bell\u2039U+0007\u203a \u2039U+0085\u203a"),
        ("\U000e0041 tag", "\u2039U+E0041\u203a tag"),
        ("lone \udc80", "lone \u2039U+DC80\u203a"),
        ("selector a\ufe0f", "selector a\u2039U+FE0F\u203a"),
    ],
)
def test_a_mark_stands_where_the_character_was(text, marked):
    assert invisible.revealed(text) == marked


@pytest.mark.parametrize(
    "text", ["", "plain\ntext\t\r\n", "d\u00e9j\u00e0 vu \u20ac", "\u05e9\u05dc\u05d5\u05dd", "\u2602\ufe0f", "\u0600"]
)
def test_what_is_seen_stays(text):
    assert invisible.revealed(text) == text


def test_an_isolate_escapes_and_names_the_character():
    assert invisible.isolated("<b>\u202e&") == (
        '<bdi>&lt;b&gt;<span class="invisible" title="U+202E right-to-left override">\u2039RLO\u203a</span>&amp;</bdi>'
    )
    assert invisible.isolated(mark_safe("<b>x</b>")) == "<bdi><b>x</b></bdi>"
    assert invisible.isolated("") == ""


def test_templates_have_both_forms():
    page = Template('<p title="{{ it|revealed }}">{{ it|isolated }}{{ none|isolated }}</p>')
    mark = '<span class="invisible" title="U+200D zero width joiner">\u2039ZWJ\u203a</span>'
    text = page.render(Context({"it": "\u200d", "none": None}))
    assert text == f'<p title="\u2039ZWJ\u203a"><bdi>{mark}</bdi></p>'


def answered(response):
    return invisible.InvisibleCharactersMiddleware(lambda request: response)(None)


def test_a_page_shows_them_and_keeps_what_is_sent_back_or_copied():
    page = (
        '<p title="\u202e">\u202ex</p><input name="reason" value="a\u202eb"><textarea name="c">\n\u200bz</textarea>'
        '<button data-copy="\u2066">\u2066</button><option value="\u200b">\u200b</option>'
    )
    assert answered(HttpResponse(page)).content.decode() == (
        '<p title="\u2039RLO\u203a">\u2039RLO\u203ax</p><input name="reason" value="a\u202eb">'
        '<textarea name="c">\n\u200bz</textarea><button data-copy="\u2066">\u2039LRI\u203a</button>'
        '<option value="\u200b">\u2039ZWSP\u203a</option>'
    )


def test_json_and_files_stay_exact():
    facts = HttpResponse('{"reason": "\u202e"}', content_type="application/json")
    assert "\u202e" in answered(facts).content.decode()
    lines = StreamingHttpResponse(["\u202e"], content_type="text/html")
    assert "".join(part.decode() for part in answered(lines)) == "\u202e"
