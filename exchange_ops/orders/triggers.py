"""What the database itself refuses about orders, on both engines, whoever asks.

An order changes state or version only together with the event of that version; what was asked for is never edited; it
is sent once at most and keeps the number the exchange gave it; its history stays as it is, and so do the account's
trades, except that what was not told of one may be added.
"""

from typing import Any

from exchange_ops.shared import triggers

_T = "exchange_ops_order"
_CONTENT = (
    "account_id",
    "initiator_id",
    "request_key",
    "client_order_id",
    "symbol",
    "side",
    "type",
    "time_in_force",
    "quantity",
    "price",
    "stop_price",
    "expire_time",
    "post_only",
    "strict_validate",
    "created_at",
)
NO_EVENT = "an order moves only together with the event of its new version"
FIXED = "what was asked for in an order is never edited"
ONE_NUMBER = "an order keeps the number the exchange gave it"
SENT_ONCE = "an order is sent once at most"
BORN = "an order begins as requested here, or as seen at the exchange"

UPDATE_RULES: tuple[tuple[str, str, str], ...] = (
    (
        "moves_with_event",
        "(NEW.state {n} OLD.state OR NEW.version {n} OLD.version) AND NOT (NEW.version = OLD.version + 1 AND EXISTS ("
        "SELECT 1 FROM exchange_ops_orderevent e WHERE e.order_id = NEW.id AND e.version = NEW.version "
        "AND e.from_state = OLD.state AND e.to_state = NEW.state))",
        NO_EVENT,
    ),
    ("content_fixed", " OR ".join(f"NEW.{column} {{n}} OLD.{column}" for column in _CONTENT), FIXED),
    ("one_number", "OLD.exchange_id IS NOT NULL AND NEW.exchange_id {n} OLD.exchange_id", ONE_NUMBER),
    ("sent_once", "NEW.sends < OLD.sends OR NEW.sends > 1 OR (NEW.state = 'requested' AND NEW.sends > 0)", SENT_ONCE),
)
BORN_WHEN = (
    "NEW.version <> 1 OR NEW.sends <> 0 OR NOT ((NEW.initiator_id IS NOT NULL AND NEW.state = 'requested') "
    "OR (NEW.initiator_id IS NULL AND NEW.state = 'placed'))"
)
_EVENTS, _TRADES = HISTORY = ("exchange_ops_orderevent", "exchange_ops_accounttrade")
_TRADE_FIXED = (
    "account_id",
    "exchange_id",
    "exchange_order_id",
    "client_order_id",
    "symbol",
    "side",
    "quantity",
    "price",
    "fee",
    "timestamp",
    "read_at",
)
_TRADE_ADDED = ("taker", "liquidation")  # the streams tell neither
TRADE_EDITED = " OR ".join(
    [f"NEW.{column} {{n}} OLD.{column}" for column in ("id", *_TRADE_FIXED)]
    + [f"(OLD.{column} IS NOT NULL AND NEW.{column} {{n}} OLD.{column})" for column in _TRADE_ADDED]
)
KEPT = (_T, "exchange_ops_ordercall", *HISTORY)


def statements(vendor: str) -> dict[str, str]:
    """Every trigger of an engine by name."""
    rules = [(f"{_T}_{name}", "UPDATE", _T, when, says) for name, when, says in UPDATE_RULES]
    rules.append((f"{_T}_begins", "INSERT", _T, BORN_WHEN, BORN))
    rules += [(f"{_EVENTS}_no_edit", "UPDATE", _EVENTS, "1 = 1", triggers.NO_EDIT)]
    rules += [(f"{_TRADES}_no_edit", "UPDATE", _TRADES, TRADE_EDITED, triggers.NO_EDIT)]
    rules += [(f"{table}_no_removal", "DELETE", table, "1 = 1", triggers.NO_REMOVAL) for table in KEPT]
    return triggers.written(vendor, rules)


def install(connection: Any) -> None:
    """Create the triggers; used by the migration."""
    triggers.create(connection, statements(connection.vendor))


def remove(connection: Any) -> None:
    """Drop the triggers; used to migrate backwards and by tests that empty the tables."""
    triggers.drop(connection, {name: _table_of(name) for name in statements(connection.vendor)})


def _table_of(name: str) -> str:
    return next(table for table in sorted(KEPT, key=len, reverse=True) if name.startswith(f"{table}_"))
