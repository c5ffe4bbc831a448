"""What a file or a pasted text must be to become the lines of a batch; a clear sentence for everything else."""

import pytest

from exchange_ops.shared.csv_lines import CannotRead, decoded
from exchange_ops.withdrawals.batches import reading

HEAD = "currency,amount,address,reason"
LINE = "BCH,0.250000000000000001,qq,Invoice 1"


@pytest.mark.parametrize(
    "content",
    [
        f"{HEAD}\n{LINE}\n".encode(),
        f"\ufeff{HEAD}\r\n{LINE}\r\n".encode(),
        f"{HEAD}\r{LINE}\r".encode(),
        f"{HEAD};payment-id\n{LINE};\n".replace(",", ";").encode(),
        f"{HEAD}\n{LINE}\n".replace(",", "\t").encode(),
        b" Currency , AMOUNT ,Recipient Address,Comment\n BCH ,0.250000000000000001,qq,Invoice 1",
        b'reason,address,currency,amount\n"Invoice 1","qq","BCH","0.250000000000000001"',
    ],
)
def test_whatever_program_wrote_the_file_its_lines_are_the_same(content):
    (entry,) = reading.read(decoded(content, name="payroll.CSV"))
    values = {name: value.strip() for name, value in entry.fields.items() if name != "payment_id"}
    assert values == {"currency": "BCH", "amount": "0.250000000000000001", "address": "qq", "reason": "Invoice 1"}
    assert (entry.number, entry.problem) == (2, "")
    plain = reading.read(f"{HEAD}\n{LINE}")
    assert reading.content_of([entry]) == reading.content_of(plain)


def test_a_line_has_the_number_that_it_has_in_the_file_and_a_wrong_number_of_fields_is_its_own_problem():
    text = f'\n{HEAD}\n{LINE}\n\n,,,\nBCH,1\n"BCH",1,qq,"two\nlines",more\n{LINE}\n'
    entries = reading.read(text)
    assert [entry.number for entry in entries] == [3, 6, 7, 9]
    assert [entry.problem for entry in entries] == [
        "",
        "2 fields, but the header has 4 columns.",
        "5 fields, but the header has 4 columns.",
        "",
    ]


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (b"x" * 1_000_000, "a.csv", "larger than 256 KB"),
        (b"\x00\x01\x02" * 9, "a.csv", "binary data"),
        (f"{HEAD}\n{LINE}".encode("utf-16"), "a.csv", "UTF-16"),
        (f"{HEAD}\nBCH,1,qq,Müller".encode("latin-1"), "a.csv", "not UTF-8 text (line 2)"),
        (b"PK\x03\x04rest of a workbook", "a.csv", "a workbook or a document"),
        (f"{HEAD}\n{LINE}".encode(), "a.xlsx", "Only CSV files"),
        (b"", "a.csv", "There are no lines"),
        (b"\n \n,,\n", "a.csv", "There are no lines"),
        (HEAD.encode(), "a.csv", "only a header"),
        (LINE.encode(), "a.csv", "The first line must name the columns"),
        (f"{HEAD},iban\n{LINE},x".encode(), "a.csv", "Unknown column: iban."),
        (f"{HEAD},comment\n{LINE},x".encode(), "a.csv", "The column reason occurs twice."),
        (b"currency,amount\nBCH,1", "a.csv", "Missing column: address, reason."),
        (f'{HEAD}\n{LINE}\nBCH,1,qq,"open'.encode(), "a.csv", "Line 3 can't be read"),
        (f'{HEAD}\nBCH,1,qq,"a"b'.encode(), "a.csv", "Line 2 can't be read"),
        ((HEAD + f"\n{LINE}" * 201).encode(), "a.csv", "at most 200 lines; this one has 201"),
    ],
)
def test_what_is_no_batch_is_refused_with_a_sentence_of_its_own(content, name, words):
    with pytest.raises(CannotRead) as refusal:
        reading.read(decoded(content, name=name))
    assert words in str(refusal.value)


def test_lines_by_hand_keep_their_place_and_the_example_is_read():
    line = {"currency": "BCH", "amount": "1", "address": "qq", "reason": 'He said "pay", twice'}
    (entry,) = reading.read(reading.written([{}, line]))
    assert (entry.number, entry.fields["reason"]) == (3, 'He said "pay", twice')
    assert len(reading.read(reading.EXAMPLE)) == 2
