"""What a simple-ledger message does: whether its inputs cover it, and what its outputs then hold.

Source: supplement 3, Validity. This is the bookkeeping of one transaction: the caller knows what its inputs hold.
"""

from collections.abc import Iterable
from decimal import Context, Decimal

import msgspec

from chaindata.wire.tokens.slp import MOST_DECIMALS, Commit, Genesis, Message, Mint, Send
from wire.values import MOST_DIGITS

NO_BATON = "The transaction does not spend the token's minting baton."
TOO_LITTLE = "The outputs exceed the token's valid inputs."
IGNORED = "A COMMIT message moves no tokens."
_EXACT = Context(prec=MOST_DIGITS)


class NotAQuantity(ValueError):
    """The amount is negative, not finite, or divided further than the token is."""


class Holding(msgspec.Struct, frozen=True):
    """What a valid output holds of a token: base units, or its baton."""

    token_id: str
    quantity: int = 0
    is_baton: bool = False


def reason_invalid(message: Message, spent: Iterable[Holding]) -> str | None:
    """Why a transaction with this message moves no tokens, given what it spends; None if it is valid."""
    match message:
        case Genesis():
            return None
        case Mint():
            has_baton = any(each.is_baton and each.token_id == message.token_id for each in spent)
            return None if has_baton else NO_BATON
        case Send():
            available = sum(each.quantity for each in spent if each.token_id == message.token_id)
            return None if sum(message.quantities) <= available else TOO_LITTLE
        case Commit():
            return IGNORED


def holdings(message: Message, *, txid: str, outputs: int) -> dict[int, Holding]:
    """What the outputs of a valid transaction hold, by number. Amounts for outputs that don't exist are burnt."""
    holding_by_output: dict[int, Holding] = {}
    match message:
        case Genesis() | Mint():
            token_id = txid if isinstance(message, Genesis) else message.token_id
            holding_by_output[1] = Holding(token_id, message.quantity)
            if message.baton_vout is not None:
                holding_by_output[message.baton_vout] = Holding(token_id, is_baton=True)
        case Send():
            holding_by_output = {
                n: Holding(message.token_id, each) for n, each in enumerate(message.quantities, start=1)
            }
    return {n: each for n, each in holding_by_output.items() if n < outputs and (each.quantity or each.is_baton)}


def in_tokens(quantity: int, decimals: int) -> Decimal:
    """Base units as tokens, exact."""
    return Decimal(quantity).scaleb(-decimals, _EXACT)


def in_base_units(amount: Decimal, decimals: int) -> int:
    """Tokens as base units. Raises `NotAQuantity` for what a token of so many decimals has no units for."""
    if not 0 <= decimals <= MOST_DECIMALS or not amount.is_finite() or amount < 0 or amount.adjusted() > MOST_DIGITS:
        raise NotAQuantity("The token amount must be zero or more.")
    units = amount.scaleb(decimals, _EXACT)
    integer = int(units)
    if integer != units:
        raise NotAQuantity(f"The amount has more than the token's {decimals} decimals.")
    return integer
