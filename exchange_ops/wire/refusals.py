"""The exchange's error catalogue: code, HTTP status, message and usual description of every documented refusal.

Source: exchange REST, Errors; supplement 2.2 and 2.11. Codes of later versions of the interface are not listed.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """One row. `description` is the usual text, `{...}` marking what varies; `meaning` is for people.

    `executed` is False when the code says for certain that this call did nothing, None when it leaves that open.
    """

    code: int
    http_status: int
    message: str
    description: str = ""
    meaning: str = ""
    executed: bool | None = False


_ROWS = (
    Refusal(403, 401, "Action is forbidden for account", meaning="The account is not allowed to do this."),
    Refusal(429, 429, "Too many requests", meaning="Rate limit reached; wait before the next request."),
    Refusal(
        500,
        500,
        "Internal Server Error",
        meaning="Exchange error; the request may have been carried out.",
        executed=None,
    ),
    Refusal(
        503,
        503,
        "Service Unavailable",
        meaning="The exchange is temporarily down; the request may have been carried out.",
        executed=None,
    ),
    Refusal(
        504,
        504,
        "Gateway Timeout",
        meaning="The exchange did not respond in time; check the outcome later.",
        executed=None,
    ),
    Refusal(
        600, 400, "Action is not allowed", meaning="Temporarily unavailable, for example because a wallet is suspended."
    ),
    Refusal(1001, 401, "Authorization required", meaning="The request carried no credentials."),
    Refusal(1002, 401, "Authorization required or has been failed", meaning="The key or its secret is wrong."),
    Refusal(1003, 403, "Action forbidden for this API key", meaning="The key lacks this permission."),
    Refusal(
        1004,
        401,
        "Unsupported authorization method",
        "Use Basic authentication",
        "The authentication method is neither Basic nor HS256.",
    ),
    Refusal(
        2001,
        400,
        "Symbol not found",
        "Try get /api/2/public/symbol, to get list of all available symbols.",
        "Unknown symbol.",
    ),
    Refusal(
        2002,
        400,
        "Currency not found",
        "The requested currency can't found. Requested: {currency}",
        "Unknown or delisted currency.",
    ),
    Refusal(
        2010,
        400,
        "Quantity not a valid number",
        "Quantity not a valid number or not set",
        "Not a valid number.",
    ),
    Refusal(2011, 400, "Quantity too low", "Minimum quantity {minimum}", "Below the lot size."),
    Refusal(2012, 400, "Bad quantity", meaning="Not a multiple of the lot size."),
    Refusal(2020, 400, "Price not a valid number", meaning="The price is missing, zero or not a number."),
    Refusal(2021, 400, "Price too low", meaning="Below the tick size."),
    Refusal(2022, 400, "Bad price", meaning="Not a multiple of the tick size."),
    Refusal(10001, 400, "Validation error", "Param '{param}' required", "The input is not valid; see the details."),
    Refusal(10021, 400, "User disabled", meaning="The sub-account is disabled and cannot be changed."),
    Refusal(
        20001,
        400,
        "Insufficient funds",
        "Check that the funds are sufficient, given commissions",
        "Insufficient funds, fees included.",
    ),
    Refusal(20002, 400, "Order not found", meaning="Unknown, or already filled, cancelled or expired."),
    Refusal(20003, 400, "Limit exceeded", meaning="The withdrawal limit is exceeded."),
    Refusal(20004, 400, "Transaction not found", meaning="Transaction not found."),
    Refusal(20005, 400, "Payout not found", meaning="Withdrawal not found."),
    Refusal(20006, 400, "Payout already committed", meaning="Already committed, so it can no longer be rolled back."),
    Refusal(20007, 400, "Payout already rolled back", meaning="Already rolled back, so it can no longer be committed."),
    Refusal(
        20008,
        400,
        "Duplicate clientOrderId",
        "ClientOrderId must be unique during trading session",
        "This ID has already been used today; an earlier request may have succeeded.",
    ),
    Refusal(20009, 400, "Price and quantity not changed", meaning="Price and quantity are unchanged."),
    Refusal(
        20010,
        400,
        "Exchange temporary closed",
        "Exchange market for this symbol is temporary closed",
        "Trading in this symbol is suspended.",
    ),
    Refusal(
        20014,
        400,
        "Offchain for this payout is unavailable",
        meaning="The address is external or your own, or the currency has no off-chain payouts.",
    ),
    Refusal(20032, 400, "Margin account or position not found", meaning="Open a margin account first."),
    Refusal(20033, 400, "Position not changed", meaning="The margin balance already has this amount."),
    Refusal(20034, 400, "Position in close only state", meaning="The position is close-only."),
    Refusal(
        20040, 400, "Margin trading forbidden", meaning="Margin trading is not available for this symbol or account."
    ),
    Refusal(20080, 400, "Internal order execution deadline exceeded", meaning="The order was not placed."),
)

CATALOGUE: dict[int, Refusal] = {row.code: row for row in _ROWS}

NOTHING_DONE: frozenset[int] = frozenset(row.code for row in _ROWS if row.executed is False)
"""Codes after which it is certain that a call did nothing: what the transport may call a refusal of a money call."""

# Other wordings of the same code, seen in samples (supplement 2.2).
OTHER_MESSAGES: dict[int, tuple[str, ...]] = {
    1002: ("Authorization is required or has been failed", "Authorization failed"),
    1003: ("Action is forbidden for this API key",),
    10021: ("user disabled",),
}

# Descriptions of sub-account operations under code 500 (supplement 2.11); `{id}` is the sub-account's.
TRANSACTION_NOT_FOUND = frozenset({20004, 20005})  # Transaction not found, Payout not found
SUBACCOUNT_FROZEN_OR_DISABLED = "account {id} already freeze or disabled"
SUBACCOUNT_UNKNOWN = "Cannot find sub account {id}"
SUBACCOUNT_TRANSFER_REFUSED = "Bad Request"
