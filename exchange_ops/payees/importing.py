"""Payees from a CSV file: each line read and checked by itself, and added only once somebody confirmed the preview.

Nothing is stored between the two: the text is read and checked again when it is confirmed. Every line becomes a payee
of its own, which needs its own two approvals (`workflow.add`).
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.db import transaction

from exchange_ops.market.models import Currency
from exchange_ops.payees import states, workflow
from exchange_ops.payees.forms import PayeeForm
from exchange_ops.payees.models import Payee
from exchange_ops.shared.models import Account

if TYPE_CHECKING:
    from desk.models import Person

MOST_LINES: Final = 200
MOST_CHARACTERS: Final = 200_000
# Each column of the file and the field of a payee; further names are those of the list's own export.
COLUMNS: Final = {
    "name": "title",
    "owner": "owner",
    "currency": "currency",
    "address": "address",
    "payment id": "payment_id",
    "group": "group",
    "reference": "supplier",
    "how checked": "evidence",
}
_ALSO: Final = {"company reference": "supplier", "how the address was checked": "evidence", "evidence": "evidence"}
_NEEDED: Final = ("name", "owner", "currency", "address", "how checked")


class CannotRead(Exception):
    """The file can't be read as payees; the text is the sentence for the person."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the file, by its number in it: the payee that it names, and why it can't be added."""

    number: int
    payee: Payee
    problems: tuple[str, ...] = ()


def read(text: str, *, account: Account) -> list[Line]:
    """Every line of the file with its problems. Raises CannotRead for a file that has no such lines."""
    if len(text) > MOST_CHARACTERS:
        raise CannotRead(f"Nothing was imported: the file has more than {MOST_CHARACTERS:,} characters.")
    rows = list(_rows(text))
    if not rows:
        raise CannotRead("Nothing was imported: the file has no payees below its header line.")
    if len(rows) > MOST_LINES:
        raise CannotRead(f"Nothing was imported: the file has {len(rows)} payees; import up to {MOST_LINES} at a time.")
    currencies = list(Currency.objects.filter(crypto=True))
    listing = list(Payee.objects.filter(account=account).order_by("pk"))
    lines: list[Line] = []
    for number, fields in rows:
        payee, problems = _payee(account, fields, currencies)
        lines.append(Line(number, payee, problems or tuple(_list_problems(payee, listing, lines))))
    return lines


def add(
    lines: Sequence[Line], *, person: "Person", account: Account, now: datetime, session_key: str = ""
) -> list[Payee]:
    """Add the payees of these lines that have no problems, each for two others to approve: all of them, or none.

    Raises `workflow.CannotAdd`.
    """
    names = ("title", "owner", "currency", "address", "payment_id", "group", "supplier", "evidence")
    with transaction.atomic():
        return [
            workflow.add(
                person=person,
                account=account,
                now=now,
                session_key=session_key,
                **{name: getattr(line.payee, name) for name in names},
            )
            for line in lines
            if not line.problems
        ]


def _payee(
    account: Account, fields: Mapping[str, str], currencies: Sequence[Currency]
) -> tuple[Payee, tuple[str, ...]]:
    """The unsaved payee of one line, and what is wrong with the line by itself."""
    form, payee = PayeeForm(fields, currencies=currencies), Payee(account=account, **fields)
    if not form.is_valid():
        return payee, tuple(_form_problems(form, fields))
    return payee, tuple(workflow.fill(payee, form.cleaned_data).values())


def _form_problems(form: PayeeForm, fields: Mapping[str, str]) -> Iterator[str]:
    for name, errors in form.errors.items():
        if name == "currency" and fields.get("currency"):
            yield f"{fields['currency'][:20]} is not a currency that is paid to addresses."
        else:
            yield from (
                f"{form.fields[name].label}: {error}" if name in form.fields else str(error) for error in errors
            )


def _list_problems(payee: Payee, listing: Sequence[Payee], before: Sequence[Line]) -> Iterator[str]:
    """Why a readable line is not added: it is there already, or its address is like another one or our own."""
    key = _key(payee)
    for other in listing:
        if other.state in states.TABLE.open and _key(other) == key:
            yield f"Already in the list: {other.reference}, {other.title}."
            return
    for line in before:
        if _key(line.payee) == key:
            yield f"The same recipient as in line {line.number}."
            return
    others = [*listing, *(line.payee for line in before)]
    if nearest := workflow.lookalike(payee, [each for each in others if each.currency == payee.currency]):
        yield f"The address resembles {nearest}, another payee's, but is not the same. Check it, then add it singly."
    if workflow.is_own(payee):
        yield "This address belongs to the company. Use a transfer instead."


def _key(payee: Payee) -> tuple[str, str, str]:
    return payee.currency, payee.address, payee.payment_id


def _rows(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The fields of each line that is not empty, with its number in the file."""
    text = text.removeprefix("\ufeff")
    head = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count), strict=True)
    try:
        names = _header(next(reader, []))
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) > len(names):
                raise CannotRead(f"Nothing was imported: line {reader.line_num} has more columns than the header line.")
            filled = {name: cell.strip() for name, cell in zip(names, cells, strict=False) if name}
            yield reader.line_num, {**dict.fromkeys(COLUMNS.values(), ""), **filled}
    except csv.Error as problem:
        raise CannotRead(f"Nothing was imported: line {reader.line_num} is not CSV: {problem}.") from None


def _header(cells: Sequence[str]) -> list[str]:
    """The field of each column, empty for one that is not imported."""
    names = [" ".join(cell.lower().split()) for cell in cells]
    fields = [COLUMNS.get(name) or _ALSO.get(name, "") for name in names]
    if missing := [name for name in _NEEDED if COLUMNS[name] not in fields]:
        listed = ", ".join(missing)
        raise CannotRead(f"Nothing was imported: the first line has to name the columns. Missing: {listed}.")
    if twice := [name for name in fields if name and fields.count(name) > 1]:
        raise CannotRead(f"Nothing was imported: two columns are for the same field ({twice[0]}).")
    return fields
