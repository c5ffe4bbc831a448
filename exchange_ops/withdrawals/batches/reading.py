"""The lines of a batch out of a CSV file, out of pasted text, or out of fields that were filled in by hand.

Everything becomes one text of CSV, which the preview carries to the confirmation: what is requested is what was shown.
Only the shape is checked here. What a line asks for is checked as the form of a single payout is (`checking`).
"""

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from exchange_ops.shared import csv_lines
from exchange_ops.shared.csv_lines import Columns, Entry

NAMES: Final = ("currency", "amount", "network_fee", "address", "payment_id", "reason")
COLUMNS: Final = Columns(
    names=NAMES,
    required=("currency", "amount", "address", "reason"),
    aliases={
        "recipient": "address",
        "recipient_address": "address",
        "fee": "network_fee",
        "reference": "reason",
        "comment": "reason",
        "purpose": "reason",
    },
)
EXAMPLE: Final = (
    "currency,amount,network_fee,address,payment_id,reason\r\n"
    # No address of anybody: a line that was left as it is here is refused, never paid.
    "BCH,0.25,added,recipient-address-here,,Invoice 2041\r\n"
    "XRP,120.5,deducted,recipient-address-here,1234567,Invoice 2042\r\n"
)


def read(text: str) -> list[Entry]:
    """The lines of a batch. Raises `csv_lines.CannotRead`."""
    return csv_lines.read(text, COLUMNS)


def written(lines: Iterable[Mapping[str, str]]) -> str:
    """Lines that were filled in by hand as CSV; those without any value are blank lines, so that numbers stay."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(NAMES)
    for line in lines:
        values = [line.get(name, "").strip() for name in NAMES]
        writer.writerow(values if any(values) else [])
    return out.getvalue()


def content_of(entries: Sequence[Entry]) -> str:
    """The digest of the lines in their order, whatever the separators, line ends and order of columns of the file."""
    lines = [[entry.fields.get(name, "").strip() for name in NAMES] for entry in entries]
    return hashlib.sha256(json.dumps(["countersign-batch-1", lines], ensure_ascii=True).encode()).hexdigest()
