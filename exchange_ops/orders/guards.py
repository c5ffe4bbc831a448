"""What the database itself refuses about orders beyond what every machine's rows are held to.

An order is sent once at most; one that was seen at the exchange begins as placed; the account's trades stay, except
that what was not told of one may be added.
"""

from typing import Final

from desk.machines.guards import NO_EDIT, Guards, Rule, edited, refilled
from exchange_ops.orders.models import AccountTrade, OrderCall, OrderEvent
from exchange_ops.orders.mover import MACHINE

_T: Final = "exchange_ops_order"
_TRADES: Final = "exchange_ops_accounttrade"
_TRADE_FIXED = (
    "id",
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

ON_MARGIN = "on margin or not is part of what was asked for in an order"
SENT_ONCE = "an order is sent once at most"
BORN = "an order begins as requested here, or as seen at the exchange"

GUARDS: Final = Guards(
    machine=MACHINE,
    history=(OrderEvent, AccountTrade),
    kept=(OrderCall,),
    own=(
        Rule(
            _T,
            "sent_once",
            "UPDATE",
            "NEW.sends < OLD.sends OR NEW.sends > 1 OR (NEW.state = 'requested' AND NEW.sends > 0)",
            SENT_ONCE,
        ),
        Rule(
            _T,
            "begins",
            "INSERT",
            "NEW.version <> 1 OR NEW.sends <> 0 OR NOT ((NEW.initiator_id IS NOT NULL AND NEW.state = 'requested') "
            "OR (NEW.initiator_id IS NULL AND NEW.state = 'placed'))",
            BORN,
        ),
        Rule(
            _T,
            "margin_fixed",
            "UPDATE",
            "NEW.margin {n} OLD.margin AND OLD.initiator_id IS NOT NULL",
            ON_MARGIN,
        ),
        Rule(_TRADES, "no_edit", "UPDATE", f"{edited(_TRADE_FIXED)} OR {refilled(_TRADE_ADDED)}", NO_EDIT),
    ),
)
