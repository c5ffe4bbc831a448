"""Import of payees from a CSV file: a preview of each line, and nothing before it is confirmed."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils.html import strip_tags

from exchange_ops.payees import importing
from exchange_ops.payees.models import Payee
from exchange_ops.shared.csv_lines import CannotRead
from tests.exchange_ops import rows
from tests.exchange_ops.permissions.subjects.payees import added

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]

HEAD = "Name,Owner,Currency,Address,Payment ID,Group,Reference,How checked"
GOOD = "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78"
LEGACY = "mrLC19Je2BuWQDkWSTriGYPyQJXKkkBmCx"  # the same address
OTHER = "bchreg:qqqqzqsrqszsvpcgpy9qkrqdpc83qygjzvxawl7f0c"


def line(address, name="Mill", currency="BCH", checked="By phone"):
    return f"{name},{name} Ltd,{currency},{address},,suppliers,S-1,{checked}"


def text(response):
    return " ".join(strip_tags(response.content.decode()).split())


def read(*lines):
    return importing.read("\n".join((HEAD, *lines)), account=rows.account())


def test_each_line_says_its_own_problem(operator):
    known = added(operator, address=OTHER)
    lines = read(
        line(GOOD),
        line(LEGACY, "Twin"),
        line(OTHER, "Known"),
        line("bitcoincash:qqqbad", "Typo"),
        line(GOOD, "Coin", currency="XYZ"),
        line(GOOD, "", checked=""),
        line(GOOD) + ",more",
    )
    assert [one.number for one in lines] == [2, 3, 4, 5, 6, 7, 8]
    problems = [" ".join(one.problems) for one in lines]
    assert problems[:3] == [
        "",
        "The same recipient as in line 2.",
        f"Already in the list: {known.reference}, Harbour Hosting.",
    ]
    assert problems[3]
    assert problems[4] == "XYZ is not a currency that is paid to addresses."
    assert "Enter a name for this payee." in problems[5]
    assert "Enter how the address was checked." in problems[5]
    assert problems[6] == "9 fields, but the header has 8 columns."
    assert Payee.objects.count() == 1


def test_a_look_alike_of_a_known_payee_is_not_added(operator):
    rows.currency("ETH")
    known = "0xab5801a7d398351b8be11c439e05c5b3259aec9b"
    added(operator, currency="ETH", address=known)
    (like,) = read(line(known.replace("b8be11", "b8be12"), currency="ETH"))
    assert "resembles" in like.problems[0]
    assert known in like.problems[0].lower()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "There is only a header"),
        ("Name,Address\nMill,1abc", "Missing column: owner, currency, how_checked."),
        (f'{HEAD}\n"open', "Line 2 can't be read"),
        (f"{HEAD}\n" + f"{line(GOOD)}\n" * 201, "at most 200 lines; this one has 201"),
    ],
    ids=["empty", "columns", "quote", "long"],
)
def test_a_file_that_is_no_list_of_payees_is_refused_whole(content, words):
    with pytest.raises(CannotRead, match=words):
        importing.read(content or HEAD, account=rows.account())


def test_nothing_is_added_before_it_is_confirmed_and_each_payee_once(operator, signed_in):
    client = signed_in(operator)
    content = "\n".join((HEAD.replace(",", ";"), line(GOOD).replace(",", ";"), line("bad", "Typo").replace(",", ";")))
    file = SimpleUploadedFile("payees.csv", content.encode("utf-8-sig"), "text/csv")
    preview = client.post("/payees/import/", {"file": file})
    page = text(preview)
    assert "Preview: 1 payee to add, 1 line with problems" in page
    assert "Lines with problems are not added." in page
    assert not Payee.objects.exists()
    mark = re.search(r'name="confirmed" value="([^"]+)"', preview.content.decode())[1]
    # Other lines than those of the preview, under the same numbers.
    changed = {"text": content.replace(GOOD, OTHER), "confirmed": mark}
    assert client.post("/payees/import/", changed).status_code == 409
    assert not Payee.objects.exists()
    confirmed = {"text": content, "confirmed": mark}
    assert "1 payee added: PY-" in text(client.post("/payees/import/", confirmed, follow=True))
    row = Payee.objects.get()
    assert (row.title, row.address, row.state, row.initiator) == ("Mill", GOOD, "review", operator)
    again = client.post("/payees/import/", confirmed)
    assert (again.status_code, Payee.objects.count()) == (409, 1)
    assert f"Already in the list: {row.reference}" in text(again)
    odd = SimpleUploadedFile("payees.csv", "Name;Müller".encode("latin-1"), "text/csv")
    assert "Nothing was imported. The file is not UTF-8 text (line 1)." in text(
        client.post("/payees/import/", {"file": odd})
    )
