"""The currencies of the sandbox: a table of figures, and made-up ones when more symbols are wanted than the table has.

Fees, minimums and prices are plausible, not anybody's. The rows with a purpose: BTC takes ten digits for a payout
although its chain has eight (a longer amount fails with BAD_PRECISION after the commit); ONT has no fractions and a
daily payout limit; DDF is delisted and leaves figures out; NXT has its payouts off and deposits with a public key; XRP
and EOS need a payment id for deposits; USD and EUR belong to no blockchain.
"""

from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256


@dataclass(frozen=True, slots=True)
class Currency:
    """One currency.

    `digits` are those of its chain, in which amounts are shown; `usd` is the price around which the market moves;
    `address_kind` names its form of address (empty: no chain); `network_of` is the currency of which it is a variant
    on another network; `daily_payout_limit` is the most that one account may pay out in 24 hours.
    """

    code: str
    full_name: str
    usd: Decimal
    digits: int
    address_kind: str = ""
    payin_enabled: bool = True
    payin_payment_id: bool = False
    payin_confirmations: int = 2
    payout_enabled: bool = True
    payout_is_payment_id: bool = False
    transfer_enabled: bool = True
    delisted: bool = False
    payout_fee: Decimal | None = None
    payout_minimum: Decimal | None = None
    precision_payout: int | None = None
    precision_transfer: int | None = None
    processing_s: tuple[str, str, str] | None = None  # lowest, highest, average
    network_of: str = ""
    daily_payout_limit: Decimal | None = None
    calm: bool = False  # a currency of account, whose price hardly moves

    @property
    def crypto(self) -> bool:
        """Whether it belongs to a blockchain."""
        return bool(self.address_kind)

    @property
    def on_chain(self) -> bool:
        """Whether its deposits and payouts are transactions on the sandbox's own chain."""
        return self.address_kind == "cash"

    def wire(self) -> dict[str, object]:
        """The Currency record of the REST interface; figures that don't exist are absent."""
        record: dict[str, object] = {
            "id": self.code,
            "fullName": self.full_name,
            "crypto": self.crypto,
            "payinEnabled": self.payin_enabled,
            "payinPaymentId": self.payin_payment_id,
            "payinConfirmations": self.payin_confirmations,
            "payoutEnabled": self.payout_enabled,
            "payoutIsPaymentId": self.payout_is_payment_id,
            "transferEnabled": self.transfer_enabled,
            "delisted": self.delisted,
        }
        optional: dict[str, object | None] = {
            "payoutFee": None if self.payout_fee is None else format(self.payout_fee, "f"),
            "payoutMinimalAmount": None if self.payout_minimum is None else format(self.payout_minimum, "f"),
            "precisionPayout": self.precision_payout,
            "precisionTransfer": self.precision_transfer,
        }
        if self.processing_s is not None:
            names = ("lowProcessingTime", "highProcessingTime", "avgProcessingTime")
            optional |= dict(zip(names, self.processing_s, strict=True))
        return record | {name: value for name, value in optional.items() if value is not None}


def _coin(
    code: str,
    name: str,
    usd: str,
    kind: str,
    *,
    digits: int,
    fee: str,
    least: str,
    confirmations: int = 2,
    **more: object,
) -> Currency:
    figures: dict[str, object] = {
        "payout_fee": Decimal(fee),
        "payout_minimum": Decimal(least),
        "precision_payout": digits,
        "precision_transfer": digits,
        "processing_s": ("3.518", "2411.963", "102.467"),
        "payin_confirmations": confirmations,
    }
    return Currency(code, name, Decimal(usd), digits, kind, **(figures | more))  # type: ignore[arg-type]


def _money(code: str, name: str, usd: str) -> Currency:
    return Currency(
        code,
        name,
        Decimal(usd),
        2,
        payin_enabled=False,
        payout_enabled=False,
        payin_confirmations=0,
        precision_payout=2,
        precision_transfer=8,
        calm=True,
    )


LISTED: tuple[Currency, ...] = (
    _coin(
        "BTC",
        "Bitcoin",
        "93000",
        "bitcoin",
        digits=8,
        fee="0.0005",
        least="0.001",
        precision_payout=10,
        precision_transfer=10,
    ),
    _coin("ETH", "Ethereum", "3100", "ethereum", digits=18, fee="0.0042", least="0.00958"),
    _coin("BCH", "Bitcoin Cash", "520", "cash", digits=8, fee="0.0005", least="0.001"),
    _coin("LTC", "Litecoin", "95", "litecoin", digits=8, fee="0.001", least="0.002", confirmations=6),
    _coin(
        "XRP",
        "Ripple",
        "2.2",
        "ripple",
        digits=6,
        fee="0.25",
        least="20",
        confirmations=1,
        payin_payment_id=True,
        payout_is_payment_id=True,
    ),
    _coin("DOGE", "Dogecoin", "0.19", "dogecoin", digits=8, fee="5", least="20", confirmations=6),
    _coin(
        "EOS",
        "EOS",
        "0.8",
        "eos",
        digits=4,
        fee="0.1",
        least="1",
        confirmations=1,
        payin_payment_id=True,
        payout_is_payment_id=True,
    ),
    _coin(
        "ONT",
        "Ontology",
        "0.25",
        "ontology",
        digits=0,
        fee="1",
        least="2",
        confirmations=1,
        daily_payout_limit=Decimal(1000),
    ),
    _money("USD", "US Dollar", "1"),
    _money("EUR", "Euro", "1.08"),
    _coin("USDT20", "Tether USD (ERC20)", "1", "ethereum", digits=6, fee="5", least="10", network_of="USD", calm=True),
    _coin("XMR", "Monero", "340", "monero", digits=12, fee="0.0005", least="0.01", confirmations=6),
    _coin("ADA", "Cardano", "0.55", "plain", digits=6, fee="1", least="2", confirmations=6),
    _coin("TRX", "TRON", "0.29", "tron", digits=6, fee="2", least="5", confirmations=6),
    _coin("BCN", "Bytecoin", "0.00012", "monero", digits=8, fee="100", least="500", confirmations=6),
    _coin("USDC", "USD Coin", "1", "ethereum", digits=6, fee="5", least="10", calm=True),
    _coin("EURS", "STASIS EURO", "1.08", "ethereum", digits=2, fee="5", least="10", calm=True),
    _coin("TUSD", "TrueUSD", "0.999", "ethereum", digits=18, fee="5", least="10", calm=True),
    _coin("SHIB", "Shiba Inu", "0.000009", "ethereum", digits=18, fee="150000", least="300000"),
    _coin("ZRX", "0x Protocol", "0.24", "ethereum", digits=18, fee="26.45", least="52.9"),
    _coin("NXT", "Nxt", "0.0016", "nxt", digits=8, fee="3", least="5", payout_enabled=False),
    Currency(
        "DDF",
        "Digital Developers Fund",
        Decimal("0.004"),
        18,
        "ethereum",
        payin_enabled=False,
        payout_enabled=False,
        transfer_enabled=False,
        delisted=True,
        payout_fee=Decimal(646),
    ),
)


def made_up(number: int) -> Currency:
    """The made-up currency of this number, 0 to 17575: a token whose price follows from its code."""
    letters = "".join(chr(ord("A") + number // 26**place % 26) for place in (2, 1, 0))
    code = f"Q{letters}"
    draw = int.from_bytes(sha256(code.encode()).digest()[:4], "big")
    usd = Decimal(1 + draw % 9_999).scaleb(-((draw >> 16) % 6))
    return _coin(code, f"Sample Token {number + 1}", str(usd), "ethereum", digits=18, fee="1", least="2")
