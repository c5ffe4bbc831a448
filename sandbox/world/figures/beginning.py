"""How a world of a desk's own figures begins: its currencies at the desk's last prices, its balances, its open orders.

It has no history: the ledger begins with the balances. Whatever the desk can't know is the sandbox's own: the form of
addresses, the digits of a chain, what other customers do, and the coins of the chain, of which its purse has 1,260.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Context, Decimal
from typing import Final

from exchange_ops.wire.refusals import CATALOGUE
from sandbox.amounts import EXACT
from sandbox.exchange.accounts.accounts import Account, Accounts, SubAccount, SubStatus
from sandbox.exchange.accounts.ledger import HOUSE, Wallet, moved
from sandbox.exchange.funds import chain_blocks
from sandbox.exchange.funds.onchain import Movements
from sandbox.exchange.handlers.orders import order_terms
from sandbox.exchange.listing.currencies import LISTED, Currency
from sandbox.exchange.listing.symbols import Symbol
from sandbox.exchange.orders.matching import BUY
from sandbox.exchange.state import Exchange
from sandbox.exchange.tape.market import UNIT, Market
from sandbox.exchange.terms import Refusal
from sandbox.exchange.traders.traders import Traders
from sandbox.exchange.trading import orders_life
from sandbox.exchange.trading.orders_funds import SPOT
from sandbox.settings.config import Config
from sandbox.settings.keys import DESK_ACCOUNT, OTHER_ACCOUNT
from sandbox.world.figures.reading import FINEST, AccountFigures, CurrencyFigures, Figures, OrderFigures, SymbolFigures
from sandbox.world.seeding import make_addresses

_FORMS: Final = {each.code: each for each in LISTED}
_USUAL_DIGITS: Final = 8
_WIDE: Final = Context(prec=100)
_DOLLAR: Final = Decimal(1)


def accounts_of(figures: Figures) -> list[str]:
    """The e-mails by which the sandbox names the accounts, in their order."""
    return [DESK_ACCOUNT if number == 1 else f"desk-{number}@demo.test" for number, _ in enumerate(figures.accounts, 1)]


def exchange(
    figures: Figures, *, seed: int, started_ms: int, config: Config, still: bool
) -> tuple[Exchange, tuple[str, ...]]:
    """The exchange at its first instant, and a sentence for each order that could not be placed."""
    currencies = _at_their_prices([_currency(each) for each in figures.currencies], seed, started_ms, still=still)
    world = Exchange(
        seed=seed,
        started_ms=started_ms,
        config=config,
        currencies=currencies,
        symbols=[_symbol(each) for each in figures.symbols],
        accounts=_accounts(figures),
        still=still,
    )
    make_addresses(world)
    world.movements = Movements(world)
    sentences: list[str] = []
    for email, account in zip(accounts_of(figures), figures.accounts, strict=True):
        _fill(world, email, account.balances)
        for sub_account in account.sub_accounts:
            _fill(world, _sub_email(email, sub_account.id), sub_account.balances)
        sentences += _place(world, email, account)
    chain_blocks.begin(world)
    traders = Traders(world)
    world.refresh_book, world.simulated_traders = traders.refresh, traders
    return world, tuple(sentences)


def _accounts(figures: Figures) -> Accounts:
    emails = accounts_of(figures)
    accounts = [
        Account(
            email,
            email.partition("@")[0],
            [
                SubAccount(
                    each.id,
                    _sub_email(email, each.id),
                    SubStatus(each.status),
                    is_payout_enabled=each.payout_enabled,
                    description=each.description,
                )
                for each in sorted(account.sub_accounts, key=lambda each: each.id)
            ],
        )
        for email, account in zip(emails, figures.accounts, strict=True)
    ]
    return Accounts((*accounts, Account(OTHER_ACCOUNT, "other")))


def _sub_email(email: str, number: int) -> str:
    name, _, host = email.partition("@")
    return f"{name}+{number}@{host}"


def _currency(figures: CurrencyFigures) -> Currency:
    """The currency with the desk's figures; the form of its addresses is that of the coin of its code, if it is known.

    A currency without a price counts one dollar, which nobody sees while no symbol trades it.
    """
    form = _FORMS.get(figures.code)
    known_price = form.usd if form else _DOLLAR
    times = (figures.low_processing_time_s, figures.high_processing_time_s, figures.avg_processing_time_s)
    low, high, average = (text or "0" for text in times)
    return Currency(
        code=figures.code,
        full_name=figures.full_name,
        usd=known_price if figures.usd is None else Decimal(figures.usd),
        digits=form.digits if form else figures.precision_payout or _USUAL_DIGITS,
        address_kind=((form.address_kind if form else "") or "plain") if figures.crypto else "",
        payin_enabled=figures.payin_enabled,
        payin_payment_id=figures.payin_payment_id,
        payin_confirmations=figures.payin_confirmations,
        payout_enabled=figures.payout_enabled,
        payout_is_payment_id=figures.payout_is_payment_id,
        transfer_enabled=figures.transfer_enabled,
        delisted=figures.delisted,
        payout_fee=_amount(figures.payout_fee),
        payout_minimum=_amount(figures.payout_minimal_amount),
        precision_payout=figures.precision_payout,
        precision_transfer=figures.precision_transfer,
        processing_s=(low, high, average) if any(times) else None,
        network_of=form.network_of if form else "",
        calm=form.calm if form else False,
    )


def _symbol(figures: SymbolFigures) -> Symbol:
    return Symbol(
        id=figures.code,
        base=figures.base,
        quote=figures.quote,
        increment=Decimal(figures.quantity_increment),
        tick=Decimal(figures.tick_size),
        leverage=_amount(figures.max_initial_leverage),
        take_rate=Decimal(figures.take_liquidity_rate),
        provide_rate=Decimal(figures.provide_liquidity_rate),
    )


def _at_their_prices(currencies: list[Currency], seed: int, started_ms: int, *, still: bool) -> list[Currency]:
    """The currencies, each with the price around which it has to wander to stand at the desk's price when the world
    begins."""
    market = Market(seed, {each.code: each for each in currencies}, started_ms if still else None)
    moved_to: list[Currency] = []
    for each in currencies:
        units = market.price(each.code, started_ms)
        usd = each.usd
        if units and each.code != "USD":
            usd = _WIDE.divide(_WIDE.multiply(_WIDE.multiply(usd, usd), UNIT), units)
        moved_to.append(replace(each, usd=max(_WIDE.quantize(usd, FINEST), FINEST)))
    return moved_to


def _fill(world: Exchange, email: str, balances: Mapping[str, tuple[str, str]]) -> None:
    """The balances, from the outside."""
    for code, texts in balances.items():
        for wallet, text in zip((Wallet.BANK, Wallet.TRADING), texts, strict=True):
            amount = EXACT.create_decimal(text)
            if amount:
                world.post("opening", "", moved(code, amount, (HOUSE, Wallet.OUTSIDE), (email, wallet)))


def _place(world: Exchange, email: str, account: AccountFigures) -> Iterator[str]:
    """Places the open orders; a sentence for each that this exchange does not take.

    Nobody else trades yet, so each of them rests; those that the account's own orders would meet are not placed.
    """
    for order in account.orders:
        if _meets(world, order):
            yield f"an open order in {order.symbol} was not placed: it meets another of the desk's own orders"
            continue
        try:
            orders_life.place(world, email, order_terms(world, _arguments(order)), SPOT)
        except Refusal as refusal:
            message = refusal.message or CATALOGUE[refusal.code].message
            why = f"{message}: {refusal.description}" if refusal.description else message
            yield f"an open order in {order.symbol} was not placed: {why}"


def _meets(world: Exchange, order: OrderFigures) -> bool:
    """Whether the order would trade at once, which it can with the desk's own orders alone."""
    if order.type != "limit" or order.price is None:
        return False
    bid, ask = world.quotes(order.symbol)
    tick, price = world.symbols[order.symbol].tick, Decimal(order.price)
    return ask is not None and price >= ask * tick if order.side == BUY else bid is not None and price <= bid * tick


def _arguments(order: OrderFigures) -> dict[str, object]:
    members = {
        "symbol": order.symbol,
        "side": order.side,
        "type": order.type,
        "timeInForce": order.time_in_force,
        "quantity": order.quantity,
        "price": order.price,
        "stopPrice": order.stop_price,
    }
    return {name: value for name, value in members.items() if value is not None}


def _amount(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)
