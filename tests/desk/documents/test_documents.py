"""Documents in PDF, read by another library: every text is there as it reads, every page says its number."""

from datetime import UTC, datetime
from io import BytesIO

import pytest
from pypdf import PdfReader

from desk import documents
from desk.documents.blocks import Facts, Heading, NewPage, Table, Text

AT = datetime(2026, 3, 31, 12, 30, 5, tzinfo=UTC)


def pages_of(content):
    return [page.extract_text() for page in PdfReader(BytesIO(content)).pages]


def drawn(*blocks, wide=False):
    return documents.pdf(list(blocks), title="Title", about="Statement of Main desk", made_at=AT, wide=wide)


def test_every_page_has_a_foot_with_its_number_and_a_table_repeats_its_head():
    rows = [[f"line {number}", "1,234.5"] for number in range(120)]
    pages = pages_of(drawn(Heading("Balances", level=1), Table(["Currency", "Closing"], rows, figures=[1])))
    assert len(pages) > 2
    for number, page in enumerate(pages, start=1):
        assert "Statement of Main desk · created 2026-03-31 12:30:05 UTC by Countersign" in page
        assert f"Page {number} of {len(pages)}" in page
        assert "Currency" in page
    assert "line 0" in pages[0]
    assert sum(page.count("line ") for page in pages) == len(rows)


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("Счёт № 7, Łódź, Ελλάδα", "Счёт № 7, Łódź, Ελλάδα"),
        ("<b>bold</b> & <br/> <font", "<b>bold</b> & <br/> <font"),
        ("pay \u202eecila\u202c now", "pay \u2039RLO\u203aecila\u2039PDF\u203a now"),
        # The typeface has no sign for it.
        ("\u4e3b", "\u2039U+4E3B\u203a"),
        # It would be drawn in the wrong order.
        ("\u05e9\u05dc", "\u2039U+05E9\u203a\u2039U+05DC\u203a"),
        ("\x00", "\u2039U+0000\u203a"),
    ],
)
def test_a_text_is_drawn_as_it_is_or_its_characters_are_named(text, reads):
    for block in (Text(text), Heading(text), Facts([("Name", text)]), Table(["Name"], [[text]])):
        assert reads in pages_of(drawn(block))[0]


def test_figures_are_never_broken_however_many_columns_there_are():
    figure = "-123,456,789,012.123456789012345678"
    for columns in (3, 6, 14):
        content = drawn(
            Table([f"Kind {place}" for place in range(columns)], [[figure] * columns], figures=range(columns))
        )
        assert "".join(pages_of(content)).count(figure) == columns


def test_a_column_of_single_lines_is_not_broken_where_words_need_the_room():
    when = "2026-11-29 15:09:42"
    rows = [[when, "word " * 60, "word " * 60]]
    assert when in pages_of(drawn(Table(["At (UTC)", "Reason", "Comment"], rows, single_line=[0])))[0]
    assert when not in pages_of(drawn(Table(["At", "Reason", "Comment"], rows)))[0]


def test_a_total_stands_last_and_a_row_of_another_length_is_refused():
    (page,) = pages_of(drawn(Table(["Currency", "Value"], [["BCH", "1"]], figures=[1], total=["Total", "1"])))
    assert page.index("BCH") < page.index("Total")
    with pytest.raises(ValueError, match="Each row of this table has 2 cells"):
        drawn(Table(["Currency", "Value"], [["BCH"]]))


def test_a_new_page_is_one_and_nothing_at_all_is_still_a_document():
    assert len(pages_of(drawn(NewPage(), Text("first"), NewPage(), Text("second")))) == 2
    assert len(pages_of(drawn(Text("")))) == 1


def test_a_text_longer_than_a_page_and_a_word_wider_than_it_are_there_whole():
    (page,) = pages_of(drawn(Text("ab" * 400)))
    assert page.replace("\n", "").count("ab") == 400
    long = pages_of(drawn(Facts([("Reason", "word " * 4_000)])))
    assert sum(page.count("word") for page in long) == 4_000
