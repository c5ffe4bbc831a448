"""The symbols of the sandbox: published figures (supplement 3), and made-up ones when more are wanted."""

from dataclasses import dataclass
from decimal import Decimal

from sandbox.exchange.listing.currencies import LISTED, Currency, made_up

LEAST_SYMBOLS = 13
MADE_UP_QUOTES = ("BTC", "USD", "ETH")
MOST_SYMBOLS = 5_000


@dataclass(frozen=True, slots=True)
class Symbol:
    """A pair: quantities are multiples of `increment`, prices of `tick`; fees are charged in the quote currency."""

    id: str
    base: str
    quote: str
    increment: Decimal
    tick: Decimal
    leverage: Decimal | None = None
    take_rate: Decimal = Decimal("0.0025")
    provide_rate: Decimal = Decimal("0.001")

    def wire(self) -> dict[str, object]:
        """The Symbol record of the REST interface; the margin members only where there is margin."""
        record: dict[str, object] = {
            "id": self.id,
            "baseCurrency": self.base,
            "quoteCurrency": self.quote,
            "quantityIncrement": format(self.increment, "f"),
            "tickSize": format(self.tick, "f"),
            "takeLiquidityRate": format(self.take_rate, "f"),
            "provideLiquidityRate": format(self.provide_rate, "f"),
            "feeCurrency": self.quote,
        }
        if self.leverage is not None:
            record |= {"marginTrading": True, "maxInitialLeverage": format(self.leverage, "f")}
        return record


def _row(line: str) -> Symbol:
    name, base, quote, increment, tick, leverage = line.split()
    return Symbol(name, base, quote, Decimal(increment), Decimal(tick), None if leverage == "-" else Decimal(leverage))


# The thirteen that every world has come first.
TABLE: tuple[Symbol, ...] = tuple(
    _row(line)
    for line in """
    ETHBTC ETH BTC 0.0001 0.000001 10.00
    BTCUSD BTC USD 0.00001 0.01 12.00
    ETHUSD ETH USD 0.0001 0.001 12.00
    ETHEUR ETH EUR 0.0001 0.001 -
    EOSETH EOS ETH 0.01 0.0000001 5.00
    EOSBTC EOS BTC 0.01 0.00000001 10.00
    BCHUSD BCH USD 0.0001 0.001 10.00
    BCHBTC BCH BTC 0.0001 0.000001 -
    LTCBTC LTC BTC 0.001 0.0000001 10.00
    LTCUSD LTC USD 0.001 0.0001 10.00
    XRPBTC XRP BTC 0.1 0.000000001 10.00
    XRPUSDT XRP USD 0.1 0.000001 10.00
    DOGEBTC DOGE BTC 10 0.00000000001 3.00
    DOGEUSD DOGE USD 10 0.00000001 3.00
    EOSUSD EOS USD 0.01 0.00001 10.00
    XMRBTC XMR BTC 0.001 0.000001 10.00
    ADAUSD ADA USD 1 0.0000001 10.00
    TRXBTC TRX BTC 1 0.0000000001 10.00
    BCNBTC BCN BTC 100 0.00000000001 -
    BTCUSDC BTC USDC 0.00001 0.00001 10.00
    BTCEURS BTC EURS 0.00001 0.01 -
    EURSUSD EURS USD 0.01 0.00001 -
    USDTUSD USD TUSD 0.01 0.000001 -
    SHIBUSD SHIB USD 1000 0.0000000001 -
    """.strip().splitlines()
)


def listed(count: int | None) -> tuple[tuple[Currency, ...], tuple[Symbol, ...]]:
    """The currencies and symbols of a world with `wanted` symbols (None: the table; never fewer than thirteen)."""
    if count is None or count <= len(TABLE):
        return LISTED, TABLE[: max(count or len(TABLE), LEAST_SYMBOLS)]
    missing = min(count, MOST_SYMBOLS) - len(TABLE)
    tokens = [made_up(number) for number in range(-(-missing // len(MADE_UP_QUOTES)))]
    by_code = {currency.code: currency for currency in LISTED}
    pairs = [_made_up_symbol(token, by_code[quote]) for token in tokens for quote in MADE_UP_QUOTES]
    return (*LISTED, *tokens), (*TABLE, *pairs[:missing])


def _made_up_symbol(base: Currency, quote: Currency) -> Symbol:
    price = base.usd / quote.usd
    return Symbol(
        id=base.code + quote.code,
        base=base.code,
        quote=quote.code,
        increment=Decimal(1).scaleb(-base.usd.adjusted() if base.usd.adjusted() < 0 else -4),
        tick=Decimal(1).scaleb(price.adjusted() - 4),
    )
