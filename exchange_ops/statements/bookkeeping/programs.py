"""The accounting programs that the journal can be imported into, and one export for one of them."""

import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from typing import Final

from exchange_ops.shared.models import Account
from exchange_ops.shared.periods import Period
from exchange_ops.statements import journal
from exchange_ops.statements.bookkeeping import datev, xero
from exchange_ops.statements.bookkeeping.accounts import WHO, Chart
from exchange_ops.statements.bookkeeping.values import MOST, Batch, TooMany, batch

ZIP: Final = "application/zip"


@dataclass(frozen=True, slots=True)
class Program:
    """One program: its currency (empty: that of the accounts), what it refuses, and the files that it takes."""

    name: str
    label: str
    currency: str
    kind: str
    problems: Callable[[Batch, Chart], Iterator[str]]
    files: Callable[[Batch, Chart, Period, datetime], Iterator[tuple[str, bytes]]]


PROGRAMS: Final = {
    each.name: each
    for each in (
        Program("datev", "DATEV", datev.CURRENCY, "text/csv; charset=windows-1252", datev.problems, datev.files),
        Program("xero", "Xero", "", "text/csv; charset=utf-8", xero.problems, xero.files),
    )
}


@dataclass(frozen=True, slots=True)
class Export:
    """What an export would have, and the sentences that speak against it; with any of them there is no file."""

    program: Program
    chart: Chart
    period: Period
    batch: Batch
    problems: Sequence[str]

    @property
    def unpriced(self) -> list[str]:
        """The currencies for want of whose price movements are left out."""
        return sorted(self.batch.unpriced)

    def file(self, now: datetime) -> tuple[str, str, bytes]:
        """Its name, its type and its content: one file, or a ZIP where the program takes the period in several."""
        files = list(self.program.files(self.batch, self.chart, self.period, now))
        if len(files) == 1:
            name, content = files[0]
            return name, self.program.kind, content
        packed = BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files:
                archive.writestr(zipfile.ZipInfo(name, now.timetuple()[:6]), content, zipfile.ZIP_DEFLATED)
        return f"{self.program.name}_{self.period.first}_{self.period.last}.zip", ZIP, packed.getvalue()


def prepare(program: Program, accounts: Sequence[Account], *, period: Period, chart: Chart) -> Export:
    """Value the movements of these accounts and say what the program could not take."""
    currencies = sorted({account.quote_currency for account in accounts})
    currency = program.currency or (currencies[0] if currencies else "")
    if not program.currency and len(currencies) > 1:
        sentence = f"{program.label} takes one currency in a file, and the accounts are valued in several: "
        sentence += f"{', '.join(currencies)}. Export one account at a time."
        return Export(program, chart, period, Batch(currency), [sentence])
    try:
        valued = batch(accounts, period, currency=currency)
    except TooMany:
        sentence = f"The period has more than {MOST:,} amounts. Choose a shorter period."
        return Export(program, chart, period, Batch(currency), [sentence])
    return Export(program, chart, period, valued, list(_problems(program, valued, chart)))


def _problems(program: Program, valued: Batch, chart: Chart) -> Iterator[str]:
    if not valued.movements:
        yield "No movement of this period has a value, so there is nothing to export."
        return
    missing = [journal.ACCOUNTS[key] for key in valued.used if not chart.of(key).number]
    if missing:
        yield f"No account number: {', '.join(missing)}. {WHO}"
    yield from program.problems(valued, chart)
