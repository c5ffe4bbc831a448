"""The journal as manual journals of Xero: CSV files of its import template, of 300 lines at most.

Each movement is one manual journal, which Xero knows by narration and date; debits are above zero, credits below. Xero
takes amounts in the base currency of the organisation, account codes of ten characters at most, and the full name of a
tax rate. UTF-8, dates as day/month/year. Sources: Xero Help, Import multiple draft manual journals; Xero Developer,
Accounting API, Accounts.
"""

import csv
from collections.abc import Iterator, Sequence
from datetime import datetime
from io import StringIO
from typing import Final

from exchange_ops.shared.periods import Period
from exchange_ops.statements import journal
from exchange_ops.statements.bookkeeping import accounts, texts
from exchange_ops.statements.bookkeeping.accounts import WHO, Chart
from exchange_ops.statements.bookkeeping.values import Amount, Batch, Valued

COLUMNS: Final = (
    *("*Narration", "*Date", "Description", "*AccountCode", "*TaxRate", "*Amount"),
    *("TrackingName1", "TrackingOption1", "TrackingName2", "TrackingOption2"),
)
MOST_LINES: Final = 300
LONGEST_CODE: Final = 10


def problems(batch: Batch, chart: Chart) -> Iterator[str]:
    """Why Xero could not take these movements, a sentence each."""
    if not chart.setting(accounts.TAX_RATE):
        yield f"Not set: {accounts.SETTINGS[accounts.TAX_RATE]}. {WHO}"
    codes = [(journal.ACCOUNTS[key], chart.of(key).number) for key in batch.used]
    unfit = [f"{label} ({code})" for label, code in codes if len(code) > LONGEST_CODE]
    if unfit:
        yield f"Xero takes account codes of {LONGEST_CODE} characters at most: {', '.join(unfit)}. {WHO}"


def files(batch: Batch, chart: Chart, period: Period, now: datetime) -> Iterator[tuple[str, bytes]]:
    """The name and the content of each file. The lines of a movement are never in two files."""
    parts = list(_parts(batch.movements))
    for number, part in enumerate(parts, 1):
        written = StringIO(newline="")
        writer = csv.writer(written)
        writer.writerow(COLUMNS)
        writer.writerows(line for each in part for amount in each.amounts for line in _lines(each, amount, chart))
        which = f"_{number:03}-of-{len(parts):03}" if len(parts) > 1 else ""
        yield f"xero_{period.first}_{period.last}{which}.csv", written.getvalue().encode()


def _parts(movements: Sequence[Valued]) -> Iterator[list[Valued]]:
    part: list[Valued] = []
    count = 0
    for each in movements:
        lines = 2 * len(each.amounts)
        if count + lines > MOST_LINES:
            yield part
            part, count = [], 0
        part.append(each)
        count += lines
    if part:
        yield part


def _lines(each: Valued, amount: Amount, chart: Chart) -> Iterator[list[str]]:
    """Debit and credit of one amount."""
    description = "; ".join(f"{label}: {fact}" for label, fact in texts.details(each, amount))
    tracking = chart.setting(accounts.TRACKING)
    option = texts.one_line(each.account.name) if tracking else ""
    for key, value in ((amount.posting.debit, amount.value), (amount.posting.credit, -amount.value)):
        yield [
            *(texts.title(each), f"{each.day:%d/%m/%Y}", description),
            *(chart.of(key).number, texts.one_line(chart.setting(accounts.TAX_RATE)), f"{value:f}"),
            *(texts.one_line(tracking), option, "", ""),
        ]
