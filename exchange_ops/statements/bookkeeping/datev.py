"""The journal as posting batches (Buchungsstapel) of DATEV, one file for each month.

Header version 700, category 21, format version 13: a header line, a line of headings, a line of 125 fields for each
amount. Windows-1252 without a byte order mark, semicolons, CR LF behind each line, a decimal comma, texts in quotation
marks. The year of a posting comes from the fiscal year in the header, so a file has one fiscal year. Sources: DATEV
Developer Portal, DATEV format, Getting started; Header; Booking batch; Character set; DATEV Help Center, documents
1036228 (99,999 postings in a file) and 1080697 (an empty lock flag locks the batch, so it is 0).
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import groupby
from typing import Final

from exchange_ops.shared.periods import Period, month_of
from exchange_ops.statements import journal
from exchange_ops.statements.bookkeeping import accounts, texts
from exchange_ops.statements.bookkeeping.accounts import WHO, Chart
from exchange_ops.statements.bookkeeping.datev_fields import COLUMNS, TEXTS
from exchange_ops.statements.bookkeeping.values import Amount, Batch, Valued

CURRENCY: Final = accounts.DATEV_CURRENCY
ENCODING: Final = "cp1252"
LARGEST: Final = Decimal("9999999999.99")
LONGEST_TEXT, LONGEST_RECEIPT, LONGEST_KIND, LONGEST_FACT, LONGEST_TITLE = 60, 36, 20, 210, 30
_RECEIPT: Final = re.compile(r"[^A-Za-z0-9_$&%*+/-]+")
_NOT_LOCKED: Final = "0"


def problems(batch: Batch, chart: Chart) -> Iterator[str]:
    """Why DATEV could not take these movements, a sentence each."""
    unset = [accounts.SETTINGS[name] for name in (accounts.CONSULTANT, accounts.CLIENT) if not chart.setting(name)]
    if unset:
        yield f"Not set: {', '.join(unset)}. {WHO}"
    longest = int(chart.setting(accounts.LENGTH)) + 1
    numbers = {key: chart.of(key).number for key in batch.used}
    unfit = [f"{journal.ACCOUNTS[key]} ({number})" for key, number in numbers.items() if not _fits(number, longest)]
    if unfit:
        yield f"DATEV takes account numbers of digits only, {longest} at most: {', '.join(unfit)}. {WHO}"
    large = [texts.title(each) for each in batch.movements if any(one.value > LARGEST for one in each.amounts)]
    if large:
        yield f"DATEV takes amounts of ten digits before the comma at most: {', '.join(large[:5])}. Post them by hand."


def files(batch: Batch, chart: Chart, period: Period, now: datetime) -> Iterator[tuple[str, bytes]]:
    """The name and the content of each file: one for each month with movements."""
    for first, group in groupby(batch.movements, key=lambda each: each.day.replace(day=1)):
        month = month_of(first)
        days = Period(max(month.first, period.first), min(month.last, period.last))
        lines = [_header(chart, days, now), ";".join(COLUMNS)]
        lines += [_record(each, amount, chart) for each in group for amount in each.amounts]
        content = "".join(f"{line}\r\n" for line in lines).encode(ENCODING, "replace")
        yield f"EXTF_Buchungsstapel_{first:%Y-%m}.csv", content


def _fits(number: str, longest: int) -> bool:
    return not number or (number.isdigit() and len(number) <= longest and int(number) > 0)


def _fiscal_year(day: date, first_month: int) -> date:
    """The first day of the fiscal year of a day."""
    return date(day.year if day.month >= first_month else day.year - 1, first_month, 1)


def _header(chart: Chart, days: Period, now: datetime) -> str:
    created = now.astimezone(UTC)
    year = _fiscal_year(days.first, int(chart.setting(accounts.YEAR)))
    fields: Sequence[str] = (
        *('"EXTF"', "700", "21", '"Buchungsstapel"', "13", f"{created:%Y%m%d%H%M%S}{created.microsecond // 1000:03}"),
        *("", '"CS"', '"Countersign"', '""'),
        *(chart.setting(accounts.CONSULTANT), chart.setting(accounts.CLIENT)),
        *(f"{year:%Y%m%d}", chart.setting(accounts.LENGTH), f"{days.first:%Y%m%d}", f"{days.last:%Y%m%d}"),
        *(_text(f"Countersign {days.first:%Y-%m}", LONGEST_TITLE), '""', "1", "0", _NOT_LOCKED, f'"{CURRENCY}"'),
        *("", '""', "", "", '""', "", "", '""', '""'),
    )
    return ";".join(fields)


def _record(each: Valued, amount: Amount, chart: Chart) -> str:
    posting, movement = amount.posting, each.movement
    values = {
        "Umsatz (ohne Soll/Haben-Kz)": f"{amount.value:f}".replace(".", ","),
        "Soll/Haben-Kennzeichen": '"S"',
        "WKZ Umsatz": f'"{CURRENCY}"',
        "Konto": chart.of(posting.debit).number,
        "Gegenkonto (ohne BU-Schlüssel)": chart.of(posting.credit).number,
        "Belegdatum": f"{each.day:%d%m}",
        "Belegfeld 1": f'"{_RECEIPT.sub("-", movement.number)[:LONGEST_RECEIPT]}"',
        "Buchungstext": _text(_summary(each, amount), LONGEST_TEXT),
        "Festschreibung": _NOT_LOCKED,
    }
    for place, (label, fact) in enumerate(texts.details(each, amount), 1):
        values[f"Zusatzinformation - Art {place}"] = _text(label, LONGEST_KIND)
        values[f"Zusatzinformation- Inhalt {place}"] = _text(fact, LONGEST_FACT)
    return ";".join(values.get(name, '""' if name in TEXTS else "") for name in COLUMNS)


def _summary(each: Valued, amount: Amount) -> str:
    kind = journal.KIND_LABELS[each.movement.kind]
    return texts.one_line(f"{each.account.name}: {kind} {texts.quantity(amount)} {each.movement.reference}")


def _text(text: str, longest: int) -> str:
    """A text field of so many characters at most; a quotation mark in it is doubled, which does not count."""
    return '"' + text[:longest].replace('"', '""') + '"'
