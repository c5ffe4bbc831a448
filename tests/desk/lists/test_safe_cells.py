"""Texts in files for people: no spreadsheet takes a part of one for a formula, wherever it splits the line."""

import time
import unicodedata

import pytest

from desk.lists.exports import safe_cell

# The four signs, and every character that compatibility normalisation (NFKC) turns into one of them.
SIGNS = [sign for code in range(0x10000) if unicodedata.normalize("NFKC", sign := chr(code)) in {*"=+-@"}]


@pytest.mark.parametrize("start", [*SIGNS, *"\t\r\n\0"])
def test_no_cell_starts_a_formula(start):
    for blanks in ("", " ", " \ufeff", "\u00a0", "\u2003\u3000 ", "\v"):
        assert safe_cell(f"{blanks}{start}1+1").startswith("'")
    assert safe_cell("plain") == "plain"


@pytest.mark.parametrize("separator", [";", "|", "\t", "\n", "\r\n", "\n\n", ";\t"])
@pytest.mark.parametrize(
    "start",
    ["=1+1", '"=1+1', " +1", "@SUM(1)", "\t-1", "\uff1d1", ' "" =1', "\u00a0=1", "\u3000+1", "=cmd|'/c'!A1", "\ufe661"],
)
def test_no_part_of_a_cell_starts_a_formula_where_it_is_split(separator, start):
    text = f"rent{separator}{start}{separator}{start}"
    for sign in (";", "|", "\t", "\n", "\r"):
        assert not [part for part in safe_cell(text).split(sign)[1:] if part.lstrip('" \u00a0\u3000')[:1] in SIGNS]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("\u202e;=1", "\u2039RLO\u203a;'=1"),
        ("\u200f=1", "\u2039RLM\u203a=1"),
        (";\u200b=1", ";\u2039ZWSP\u203a=1"),
        ("\ufeff=1", "'\u2039BOM\u203a=1"),
        ("a\x0b=1\u2028=1\x85=1", "a\u2039U+000B\u203a=1\u2039LS\u203a=1\u2039U+0085\u203a=1"),
        ("1 = 1 - 0 @ home, + tax", "1 = 1 - 0 @ home, + tax"),
        ("\u2212 5 \u2013 minus and dash \u2014", "\u2212 5 \u2013 minus and dash \u2014"),
        ("x" * 40_000 + ";=1", "x" * 40_000 + ";'=1"),
        ("d\u00e9j\u00e0 | vu", "d\u00e9j\u00e0 | vu"),
    ],
)
def test_what_is_no_formula_stays_as_it_is(text, cell):
    assert safe_cell(text) == cell


@pytest.mark.parametrize("piece", ["\n", ";", "; ", ';"', "\t", "\u00a0", "a;"])
def test_a_very_long_text_takes_no_longer_for_each_character(piece):
    began = time.process_time()
    safe_cell(piece * 50_000)
    assert time.process_time() - began < 0.5


def test_separators_alone_are_no_formula():
    assert safe_cell("a; b - c;d\n\ne") == "a; b - c;d\n\ne"
