"""Words that the whole exchange of the sandbox speaks: who calls, what is refused, what listeners hear."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

CURRENCY_NOT_FOUND = 2002
SYMBOL_NOT_FOUND = 2001
VALIDATION_ERROR = 10001
AUTHORIZATION_REQUIRED = 1001
ACTION_NOT_ALLOWED = 600
FORBIDDEN_FOR_ACCOUNT = 403
INTERNAL_ERROR = 500
USER_DISABLED = 10021
MARGIN_NOT_FOUND = 20032
MARGIN_NOT_CHANGED = 20033
CLOSE_ONLY = 20034
MARGIN_FORBIDDEN = 20040
MARKET_CLOSED = 20010
UNAVAILABLE = 503
QUANTITY_INVALID = 2010
QUANTITY_TOO_LOW = 2011
QUANTITY_BAD = 2012
PRICE_INVALID = 2020
PRICE_TOO_LOW = 2021
PRICE_BAD = 2022
INSUFFICIENT_FUNDS = 20001
ORDER_NOT_FOUND = 20002
LIMIT_EXCEEDED = 20003
TRANSACTION_NOT_FOUND = 20004
PAYOUT_NOT_FOUND = 20005
PAYOUT_COMMITTED = 20006
PAYOUT_ROLLED_BACK = 20007
CLIENT_ORDER_ID_TAKEN = 20008
NOTHING_CHANGED = 20009


class Refusal(Exception):
    """The exchange says no, with a code of its error catalogue; a refused call has changed nothing.

    Status and message belong to the code (`exchange_ops.wire.refusals`). `message` replaces the catalogue's message
    where the specification shows a refusal whose message carries the particulars (supplement 2.2, code 10001).
    """

    def __init__(self, code: int, description: str = "", message: str | None = None) -> None:
        super().__init__(code, description, message)
        self.code = code
        self.description = description
        self.message = message

    def __str__(self) -> str:
        return " ".join(str(part) for part in (self.code, self.message, self.description) if part)


class NoHandler(LookupError):
    """The sandbox does not imitate this operation yet."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the key's login, the e-mail of its account, and the names of the rights the key carries."""

    login: str
    account: str
    rights: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Event:
    """A change that sockets tell: `payload` is the wire form of one transaction, of all non-zero balances of the bank
    account, of one order report, of one margin account, or of one ticker or public trade with its symbol (whose
    `account` is empty: everybody may hear it). After `begun`, which has no payload, all is told of a fresh world."""

    kind: Literal["transaction", "balance", "ticker", "report", "marginReport", "marginAccount", "trade", "begun"]
    account: str
    payload: object


Listener: TypeAlias = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Wait:
    """How long a call wants to wait for a change, in real milliseconds, and which event is that change."""

    ms: int
    is_over: Callable[[Event], bool]
