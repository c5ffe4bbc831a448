"""Figures from which a world begins: currencies, symbols, and accounts with balances, sub-accounts and open orders.

They come from a file that a desk wrote (`exchange_ops/rehearsals/files.py`), of which only the part `exchange` is read
here. Amounts are texts of at most 24 digits on either side of the point. Nothing is read past a bound, and a name that
is not known is refused, so that a newer file is not misread.
"""

from decimal import Decimal
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

FORMAT: Final = "countersign-rehearsal"
VERSION: Final = 1
LARGEST_BYTES: Final = 32 * 1024 * 1024
FINEST: Final = Decimal(1).scaleb(-18)  # step or price of the sandbox's market

Amount = Annotated[str, Meta(pattern=r"^[0-9]{1,24}(\.[0-9]{1,24})?\Z")]
Code = Annotated[str, Meta(pattern=r"^[A-Z0-9]{1,20}\Z")]
SymbolCode = Annotated[str, Meta(pattern=r"^[A-Z0-9]{1,40}\Z")]
Places = Annotated[int, Meta(ge=0, le=24)]
Wallets = tuple[Amount, Amount]  # bank, trading


class CannotReadFigures(Exception):
    """The file can't begin a world; the text is one sentence that says why."""


class CurrencyFigures(Struct, frozen=True, forbid_unknown_fields=True):
    """A currency as the desk knows it; `usd` is its last price in dollars."""

    code: Code
    full_name: Annotated[str, Meta(max_length=120)]
    crypto: bool
    payin_enabled: bool
    payin_payment_id: bool
    payin_confirmations: Annotated[int, Meta(ge=0, le=10_000)]
    payout_enabled: bool
    payout_is_payment_id: bool
    transfer_enabled: bool
    delisted: bool
    payout_fee: Amount | None
    payout_minimal_amount: Amount | None
    precision_payout: Places | None
    precision_transfer: Places | None
    low_processing_time_s: Amount | None
    high_processing_time_s: Amount | None
    avg_processing_time_s: Amount | None
    usd: Amount | None


class SymbolFigures(Struct, frozen=True, forbid_unknown_fields=True):
    """A pair with its steps and rates; fees are charged in the quote currency."""

    code: SymbolCode
    base: Code
    quote: Code
    quantity_increment: Amount
    tick_size: Amount
    take_liquidity_rate: Amount
    provide_liquidity_rate: Annotated[str, Meta(pattern=r"^-?[0-9]{1,24}(\.[0-9]{1,24})?\Z")]
    max_initial_leverage: Amount | None


class OrderFigures(Struct, frozen=True, forbid_unknown_fields=True):
    """An open spot order: what is left of it, in the base currency."""

    symbol: SymbolCode
    side: Literal["buy", "sell"]
    type: Literal["limit", "stopLimit", "stopMarket"]
    time_in_force: Literal["GTC", "Day"]
    quantity: Amount
    price: Amount | None
    stop_price: Amount | None


class SubAccountFigures(Struct, frozen=True, forbid_unknown_fields=True):
    """A sub-account with its balances by currency."""

    id: Annotated[int, Meta(ge=1, le=2**62)]
    status: Literal["new", "active", "frozen", "disabled"]
    payout_enabled: bool
    description: Annotated[str, Meta(max_length=255)]
    balances: Annotated[dict[Code, Wallets], Meta(max_length=5_000)]


class AccountFigures(Struct, frozen=True, forbid_unknown_fields=True):
    """An account: whole balances by currency, what orders reserve included, its sub-accounts and its open orders."""

    balances: Annotated[dict[Code, Wallets], Meta(max_length=5_000)]
    sub_accounts: Annotated[tuple[SubAccountFigures, ...], Meta(max_length=1_000)]
    orders: Annotated[tuple[OrderFigures, ...], Meta(max_length=5_000)]


class Figures(Struct, frozen=True, forbid_unknown_fields=True):
    """All figures of a world. The first account is the one that the control plane means without a name."""

    currencies: Annotated[tuple[CurrencyFigures, ...], Meta(min_length=1, max_length=5_000)]
    symbols: Annotated[tuple[SymbolFigures, ...], Meta(max_length=5_000)]
    accounts: Annotated[tuple[AccountFigures, ...], Meta(min_length=1, max_length=20)]


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    version: int
    made_at: str
    exchange: Figures
    desk: msgspec.Raw = msgspec.Raw(b"{}")


class _Kind(Struct, frozen=True):
    """What is read first: whether the rest can be."""

    format: str = ""
    version: int = 0


def read(path: Path) -> dict[str, object]:
    """The figures of a file, as plain JSON for a journal's header. Raises CannotReadFigures."""
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise CannotReadFigures(f"{path} is larger than {LARGEST_BYTES // 2**20} MiB; no figures are read from it.")
        raw = path.read_bytes()
        kind = msgspec.json.decode(raw, type=_Kind)
        if kind.format != FORMAT:
            raise CannotReadFigures(f"{path} is no file of figures for a rehearsal.")
        if kind.version != VERSION:
            raise CannotReadFigures(
                f"{path} has version {kind.version} of the format, and this program reads version {VERSION}. Make the "
                "file again with manage.py rehearse --fresh."
            )
        figures = msgspec.json.decode(raw, type=_File).exchange
    except OSError as problem:
        raise CannotReadFigures(f"{path} can't be read: {problem.strerror}.") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise CannotReadFigures(f"{path} has an odd value: {problem}.") from None
    _require_sound(figures, str(path))
    plain: dict[str, object] = msgspec.to_builtins(figures)
    return plain


def of_header(plain: dict[str, object]) -> Figures:
    """The figures that a journal's header has. Raises CannotReadFigures."""
    try:
        figures = msgspec.convert(plain, Figures)
    except msgspec.MsgspecError as problem:
        raise CannotReadFigures(f"The figures of the journal have an odd value: {problem}.") from None
    _require_sound(figures, "The journal")
    return figures


def _require_sound(figures: Figures, where: str) -> None:
    """What names each other must exist, once, and steps and prices must be above zero."""
    codes, symbols = [each.code for each in figures.currencies], {each.code for each in figures.symbols}
    if len(set(codes)) != len(codes) or len(symbols) != len(figures.symbols):
        raise CannotReadFigures(f"{where} names a currency or a symbol twice.")
    unknown = {code for each in figures.symbols for code in (each.base, each.quote)} - set(codes)
    for account in figures.accounts:
        sub_accounts = [each.id for each in account.sub_accounts]
        if len(set(sub_accounts)) != len(sub_accounts):
            raise CannotReadFigures(f"{where} names a sub-account twice.")
        unknown |= set(account.balances) - set(codes)
        unknown |= {code for each in account.sub_accounts for code in each.balances} - set(codes)
        unknown |= {each.symbol for each in account.orders} - symbols
    if unknown:
        raise CannotReadFigures(f"{where} uses {min(unknown)}, which it does not describe.")
    steps = [step for each in figures.symbols for step in (each.quantity_increment, each.tick_size)]
    prices = [each.usd for each in figures.currencies if each.usd is not None]
    if any(Decimal(text) < FINEST for text in (*steps, *prices)):
        raise CannotReadFigures(f"{where} has a step or a price below {FINEST:f}.")
