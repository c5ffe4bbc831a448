"""What a movement is called in the file of another program."""

from datetime import UTC
from typing import Final

from desk.invisible import revealed
from desk.lists import exports
from exchange_ops.statements import journal
from exchange_ops.statements.bookkeeping.values import Amount, Valued
from wire.values import decimal_text

_LINE_ENDS: Final = str.maketrans("\t\r\n", "   ")


def one_line(text: str) -> str:
    """Text on one line, without characters that show nothing or that a spreadsheet takes for a formula."""
    return exports.safe_cell(revealed(text.translate(_LINE_ENDS)).strip())


def quantity(amount: Amount) -> str:
    """The amount in its own currency."""
    return f"{decimal_text(amount.posting.amount)} {amount.posting.currency}"


def title(each: Valued) -> str:
    """The movement with its account, kind and number; no two movements of an account share it."""
    movement = each.movement
    return one_line(f"{each.account.name}: {journal.KIND_LABELS[movement.kind]} {movement.number}")


def details(each: Valued, amount: Amount) -> list[tuple[str, str]]:
    """What else is recorded, by short labels; nothing empty."""
    movement = each.movement
    facts = (
        ("Account", each.account.name),
        ("Quantity", quantity(amount)),
        ("Movement", movement.number),
        ("Dated at (UTC)", f"{movement.at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"),
        ("Request", movement.reference),
        ("Address", movement.address),
        ("Hash", movement.hash),
        ("Note", movement.note),
    )
    return [(label, one_line(text)) for label, text in facts if text]
