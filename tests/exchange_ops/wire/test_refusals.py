"""The error catalogue against the tables of the specification and its supplement."""

from exchange_ops.wire import refusals

# Code, HTTP status and message: exchange REST, Errors; then supplement 2.2.
TABLE = """
403   401 Action is forbidden for account
429   429 Too many requests
500   500 Internal Server Error
503   503 Service Unavailable
504   504 Gateway Timeout
600   400 Action is not allowed
1001  401 Authorization required
1002  401 Authorization required or has been failed
1003  403 Action forbidden for this API key
1004  401 Unsupported authorization method
2001  400 Symbol not found
2002  400 Currency not found
2010  400 Quantity not a valid number
2011  400 Quantity too low
2012  400 Bad quantity
2020  400 Price not a valid number
2021  400 Price too low
2022  400 Bad price
10001 400 Validation error
10021 400 User disabled
20001 400 Insufficient funds
20002 400 Order not found
20003 400 Limit exceeded
20004 400 Transaction not found
20005 400 Payout not found
20006 400 Payout already committed
20007 400 Payout already rolled back
20008 400 Duplicate clientOrderId
20009 400 Price and quantity not changed
20010 400 Exchange temporary closed
20014 400 Offchain for this payout is unavailable
20032 400 Margin account or position not found
20033 400 Position not changed
20034 400 Position in close only state
20040 400 Margin trading forbidden
20080 400 Internal order execution deadline exceeded
""".strip().splitlines()


def test_catalogue_is_that_of_the_specification() -> None:
    rows = [f"{row.code} {row.http_status} {row.message}" for row in refusals.CATALOGUE.values()]
    assert rows == [" ".join(line.split()) for line in TABLE]
    assert all(code == row.code for code, row in refusals.CATALOGUE.items())


def test_everything_but_the_three_gateway_codes_is_known_to_have_done_nothing() -> None:
    assert refusals.NOTHING_DONE == set(refusals.CATALOGUE) - {500, 503, 504}
    # The codes that were measured for money calls, by name: none of them may be lost.
    assert refusals.NOTHING_DONE >= {403, 429, 1001, 1002, 1003, 1004, 2001, 2002, 2010, 2011, 2012, 2020, 10001, 20001}


def test_usual_descriptions() -> None:
    members = {code: row.description for code, row in refusals.CATALOGUE.items() if row.description}
    assert members == {
        1004: "Use Basic authentication",
        2001: "Try get /api/2/public/symbol, to get list of all available symbols.",
        2002: "The requested currency can't found. Requested: {currency}",
        2010: "Quantity not a valid number or not set",
        2011: "Minimum quantity {minimum}",
        10001: "Param '{param}' required",
        20001: "Check that the funds are sufficient, given commissions",
        20008: "ClientOrderId must be unique during trading session",
        20010: "Exchange market for this symbol is temporary closed",
    }
    assert refusals.SUBACCOUNT_FROZEN_OR_DISABLED.format(id=7988921) == "account 7988921 already freeze or disabled"
    assert refusals.SUBACCOUNT_UNKNOWN.format(id=7988920) == "Cannot find sub account 7988920"


def test_every_refusal_has_a_meaning_for_people() -> None:
    assert [row.code for row in refusals.CATALOGUE.values() if not row.meaning.endswith(".")] == []
    assert [row.code for row in refusals.CATALOGUE.values() if row.meaning == row.message] == []
