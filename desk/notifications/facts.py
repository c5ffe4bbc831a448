"""The facts of a request in a message: how much, its value, to whom, who asked, and what happens if nobody acts."""

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from desk.fields import plain
from desk.personal.formats import figure

if TYPE_CHECKING:
    from desk.actions.entries import Entry

LONGEST_RECIPIENT: Final = 14
_ENDS: Final = 4  # characters that are shown at either end of a recipient that is longer


def of(entry: "Entry") -> dict[str, str]:
    """The facts of an entry that there are, exact and as text: decimals without exponent, the whole recipient."""
    row, facts = entry.row, dict(entry.facts)
    amount, value = getattr(row, "amount", None), getattr(row, "quote_value", None)
    if isinstance(amount, Decimal):
        facts |= {"amount": format(plain(amount), "f"), "currency": str(getattr(row, "currency", ""))}
    if isinstance(value, Decimal):
        facts |= {"value": format(plain(value), "f"), "value_currency": str(getattr(row, "quote_currency", ""))}
    recipient = getattr(row, "address", "") or getattr(row, "identifier", "")
    initiator = getattr(row, "initiator", None)
    facts |= {"recipient": str(recipient)} if recipient else {}
    facts |= {"requested_by": initiator.get_username()} if initiator is not None else {}
    facts |= {"if_nobody_acts": entry.lapse} if entry.lapse else {}
    return facts


def money(facts: Mapping[str, str]) -> str:
    """The amount for people: "0.03 BTC"; empty where there is none."""
    return f"{figure(Decimal(facts['amount']))} {facts.get('currency', '')}".strip() if "amount" in facts else ""


def line(facts: Mapping[str, str]) -> str:
    """One line for people: "0.03 BTC (≈ 2,850.00 USD) to bc1q…f3t4, requested by olga"; empty without facts."""
    parts = [facts.get("what") or money(facts)]
    if "value" in facts:
        value = Decimal(facts["value"]).quantize(Decimal("0.01"))
        parts.append(f"(≈ {figure(value, places=2)} {facts.get('value_currency', '')})")
    if "recipient" in facts:
        parts.append(f"to {short(facts['recipient'])}")
    requester = f"requested by {facts['requested_by']}" if "requested_by" in facts else ""
    return ", ".join(part for part in (" ".join(part for part in parts if part), requester) if part)


def short(recipient: str) -> str:
    """A recipient with its first and last characters: "bc1q…f3t4"; a short one is whole."""
    name = recipient.rpartition(":")[2]
    return name if len(name) <= LONGEST_RECIPIENT else f"{name[:_ENDS]}…{name[-_ENDS:]}"
