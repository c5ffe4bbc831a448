"""What the sandbox leaves configurable: the points where the specifications are silent about the real exchange."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from decimal import Decimal

from sandbox.amounts import NotAnAmount, decimal_of
from sandbox.settings.dialects import DIALECTS, DOCUMENTED, OBSERVED

HOLD_ENDS = ("lapse", "stay", "commit")
PAYOUTS_ON_CHAIN = ("as_told", "short", "elsewhere", "never")
DOCUMENTED_RATES = {"market": 100, "trading": 300, "other": 10}  # requests a second, exchange supplement 2.5
LONGEST_DELAY_MS = 3_600_000
LONGEST_SECONDS = 86_400
CASH_ACCOUNT_OFFSET = 10  # the block of height 110 registers the accounts of number 100, the first


class CannotConfigure(ValueError):
    """A name or value of the configuration is odd; the message says which, and nothing was changed."""


@dataclass(slots=True)
class Config:
    """The configuration of one world.

    dialect         what is answered where the specification and live servers differ: documented, or observed
    hold_end        what happens to a hold that nobody touched for an hour: lapse, stay, or commit
    list_delay_ms   how long a new transaction is missing from listings and notifications
    echo_comment    whether transactions show the publicComment of their withdrawal
    fee_drift       fraction by which the fee of a hold exceeds the estimated one (0.1: ten percent more), -0.99 to 100
    rate_limits     requests a second by group ("market", "trading", "other"), or None: no limit
    payout_seconds  from commit to the hash, and again from each confirmation to the next
    block_seconds   between the blocks of the sandbox's chain
    take_liquidity_rate, provide_liquidity_rate
                    what accounts pay as taker and as maker, as fractions; None: the symbol's own. A negative one is a
                    rebate. It holds for orders placed from then on
    chain_rate_limit  calls of one route of the chain-data service that an address may make in a minute (ten times as
                    many with the pro password); 0: no limit
    chain_proofs_as_specified
                    whether bulk calls for proofs answer objects, as the specification shows, or the plain texts that
                    real servers answer and existing clients expect
    chain_pro_password  what raises the limits of the chain-data service for its user BITBOX
    cash_account_offset  what the numbers of cash accounts are less than the heights of their blocks
    non_js_framework  whether the operations are served that make, mint and send tokens with a private key in their path
    history_delay_ms  how long new orders and trades are missing from the trading history
    payout_on_chain  what payouts on the sandbox's own chain really do, whatever the exchange reports: as_told, short (a
                    tenth less arrives), elsewhere (another address is paid), never (the named transaction is none)
    """

    dialect: str = DOCUMENTED
    hold_end: str = "lapse"
    list_delay_ms: int = 0
    echo_comment: bool = True
    fee_drift: Decimal = Decimal(0)
    rate_limits: dict[str, int] | None = None
    payout_seconds: Decimal = Decimal(4)
    block_seconds: int = 30
    take_liquidity_rate: Decimal | None = None
    provide_liquidity_rate: Decimal | None = None
    history_delay_ms: int = 0
    payout_on_chain: str = "as_told"
    chain_rate_limit: int = 0
    chain_proofs_as_specified: bool = False
    chain_pro_password: str = "BITBOX"  # noqa: S105  # the published default (chain supplement 1.10)
    cash_account_offset: int = CASH_ACCOUNT_OFFSET
    non_js_framework: bool = False

    @property
    def is_observed(self) -> bool:
        """Whether the sandbox answers as live servers were seen to, where the specification says otherwise."""
        return self.dialect == OBSERVED

    @property
    def payout_ms(self) -> int:
        """`payout_seconds` in whole milliseconds."""
        return int(self.payout_seconds * 1000)

    @property
    def block_ms(self) -> int:
        """`block_seconds` in milliseconds."""
        return self.block_seconds * 1000

    def change(self, changes: Mapping[str, object]) -> None:
        """Takes over the named values: all of them or, when one is odd, none (`CannotConfigure`)."""
        accepted: dict[str, object] = {}
        for name, value in changes.items():
            accept = _ACCEPT.get(name)
            if accept is None:
                raise CannotConfigure(f"{name!r} is no part of the configuration; it has {', '.join(_ACCEPT)}.")
            accepted[name] = accept(name, value)
        for name, value in accepted.items():
            setattr(self, name, value)

    def as_json(self) -> dict[str, object]:
        """The configuration as JSON."""
        values = asdict(self)
        return {field.name: _as_json(values[field.name]) for field in fields(self)}


def _as_json(value: object) -> object:
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else format(value, "f")
    return value


def _choice(choices: tuple[str, ...]) -> Callable[[str, object], str]:
    def accept(name: str, value: object) -> str:
        if not isinstance(value, str) or value not in choices:
            raise CannotConfigure(f"{name} is {value!r}; it takes one of {', '.join(choices)}.")
        return value

    return accept


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise CannotConfigure(f"{name} is {value!r}; it takes true or false.")
    return value


def _whole_number(lowest: int, highest: int) -> Callable[[str, object], int]:
    def accept(name: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
            raise CannotConfigure(f"{name} is {value!r}; it takes a whole number from {lowest} to {highest}.")
        return value

    return accept


def _decimal(lowest: Decimal, highest: Decimal) -> Callable[[str, object], Decimal]:
    def accept(name: str, value: object) -> Decimal:
        try:
            amount = decimal_of(value, signed=True)
        except NotAnAmount as problem:
            raise CannotConfigure(f"{name} is {value!r}; {problem}") from None
        if not lowest <= amount <= highest:
            raise CannotConfigure(f"{name} is {value!r}; it takes a number from {lowest} to {highest}.")
        return amount

    return accept


def _password(name: str, value: object) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= 100:
        raise CannotConfigure(f"{name} takes a text of 1 to 100 characters.")
    return value


def _optional(accept: Callable[[str, object], Decimal]) -> Callable[[str, object], Decimal | None]:
    def accept_or_none(name: str, value: object) -> Decimal | None:
        return None if value is None or value is False else accept(name, value)

    return accept_or_none


def _rates(name: str, value: object) -> dict[str, int] | None:
    if value is None or value is False:
        return None
    if value is True:
        return dict(DOCUMENTED_RATES)
    if not isinstance(value, Mapping) or not set(value) <= set(DOCUMENTED_RATES):
        raise CannotConfigure(f"{name} takes true, false, or requests a second by {', '.join(DOCUMENTED_RATES)}.")
    accept = _whole_number(1, 1_000_000)
    return DOCUMENTED_RATES | {str(group): accept(f"{name}.{group}", rate) for group, rate in value.items()}


_ACCEPT: dict[str, Callable[[str, object], object]] = {
    "dialect": _choice(DIALECTS),
    "hold_end": _choice(HOLD_ENDS),
    "list_delay_ms": _whole_number(0, LONGEST_DELAY_MS),
    "echo_comment": _flag,
    "fee_drift": _decimal(Decimal("-0.99"), Decimal(100)),
    "rate_limits": _rates,
    "payout_seconds": _decimal(Decimal(0), Decimal(LONGEST_SECONDS)),
    "block_seconds": _whole_number(1, LONGEST_SECONDS),
    "take_liquidity_rate": _optional(_decimal(Decimal("-0.5"), Decimal("0.5"))),
    "provide_liquidity_rate": _optional(_decimal(Decimal("-0.5"), Decimal("0.5"))),
    "history_delay_ms": _whole_number(0, LONGEST_DELAY_MS),
    "payout_on_chain": _choice(PAYOUTS_ON_CHAIN),
    "chain_proofs_as_specified": _flag,
    "chain_rate_limit": _whole_number(0, 1_000_000),
    "chain_pro_password": _password,
    "cash_account_offset": _whole_number(-1_000_000, 1_000_000),
    "non_js_framework": _flag,
}
