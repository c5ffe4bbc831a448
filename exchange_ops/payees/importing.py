"""Payees from a CSV file: each line read and checked by itself, and added only once somebody confirmed the preview.

Nothing is stored between the two: the text is read and checked again when it is confirmed. Every line becomes a payee
of its own, which needs its own two approvals (`workflow.add`).
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.db import transaction

from exchange_ops.market.models import Currency
from exchange_ops.payees import states, workflow
from exchange_ops.payees.forms import PayeeForm
from exchange_ops.payees.models import Payee
from exchange_ops.shared import csv_lines
from exchange_ops.shared.csv_lines import Columns
from exchange_ops.shared.models import Account

if TYPE_CHECKING:
    from desk.models import Person

COLUMNS: Final = Columns(
    names=("name", "owner", "currency", "address", "payment_id", "group", "reference", "how_checked"),
    required=("name", "owner", "currency", "address", "how_checked"),
    # Further names are those of the list's own export, which has columns that are not imported.
    aliases={
        "company_reference": "reference",
        "how_the_address_was_checked": "how_checked",
        "evidence": "how_checked",
    },
    ignores_others=True,
)
# The field of a payee for each column of another name.
_FIELDS: Final = {"name": "title", "reference": "supplier", "how_checked": "evidence"}
_NAMES: Final = tuple(_FIELDS.get(name, name) for name in COLUMNS.names)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the file, by its number in it: the payee that it names, and why it can't be added."""

    number: int
    payee: Payee
    problems: tuple[str, ...] = ()


def read(text: str, *, account: Account) -> list[Line]:
    """Every line of the file with its problems. Raises `csv_lines.CannotRead` for a file that has no such lines."""
    entries = csv_lines.read(text, COLUMNS)
    currencies = list(Currency.objects.filter(crypto=True))
    listing = list(Payee.objects.filter(account=account).order_by("pk"))
    lines: list[Line] = []
    for entry in entries:
        fields = {_FIELDS.get(name, name): entry.fields.get(name, "").strip() for name in COLUMNS.names}
        payee, problems = _payee(account, fields, currencies)
        problems = (entry.problem,) if entry.problem else problems
        lines.append(Line(entry.number, payee, problems or tuple(_list_problems(payee, listing, lines))))
    return lines


def content_of(lines: Sequence[Line]) -> str:
    """The digest of what a confirmation adds: the lines without problems, with all that each payee is made of."""
    added = [[line.number, *(getattr(line.payee, name) for name in _NAMES)] for line in lines if not line.problems]
    return hashlib.sha256(json.dumps(["countersign-payees-1", added], ensure_ascii=True).encode()).hexdigest()


def add(
    lines: Sequence[Line], *, person: "Person", account: Account, now: datetime, session_key: str = ""
) -> list[Payee]:
    """Add the payees of these lines that have no problems, each for two others to approve: all of them, or none.

    Raises `workflow.CannotAdd`.
    """
    with transaction.atomic():
        return [
            workflow.add(
                person=person,
                account=account,
                now=now,
                session_key=session_key,
                **{name: getattr(line.payee, name) for name in _NAMES},
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
