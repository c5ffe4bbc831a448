"""The machine of orders: how a row is moved, and what the database itself refuses. `states` is its table.

Beyond what every machine's rows are held to: an order is sent once at most; one that was seen at the exchange begins as
placed; the account's trades stay, except that what the exchange left out of one may be added.
"""

from typing import Final

from desk.machines.guards import NO_EDIT, NOT_PROVEN, NOT_YOURS, Guards, Rule, edited, refilled
from desk.machines.mover import CannotMove, Machine
from exchange_ops.orders.models import AccountTrade, Order, OrderApproval, OrderCall, OrderEvent

__all__ = ["CannotMove", "create", "lock", "move", "touch"]

ADVANCE_TASK = "exchange_ops.advance_order"
TOPIC = "orders"
MACHINE: Machine[Order] = Machine(
    model=Order,
    events=OrderEvent,
    task=ADVANCE_TASK,
    lists=(TOPIC,),
    locked_with=("account", "initiator"),
)
create, move, touch, lock = MACHINE.create, MACHINE.move, MACHINE.touch, MACHINE.lock

# What the database itself refuses ------------------------------------------------------------------------------------

_T: Final = "exchange_ops_order"
_APPROVAL: Final = "exchange_ops_orderapproval"
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
BORN = "an order begins as requested here, waiting for an approval, or as seen at the exchange"
NOT_APPROVED = "an order that was to be approved is placed only with the approval of exactly this content"

GUARDS: Final = Guards(
    machine=MACHINE,
    history=(OrderEvent, OrderApproval, AccountTrade),
    records=(OrderCall,),
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
            "NEW.version <> 1 OR NEW.sends <> 0 OR NOT ((NEW.initiator_id IS NOT NULL AND NEW.digest = '' "
            "AND NEW.state = 'requested') OR (NEW.initiator_id IS NOT NULL AND NEW.digest <> '' "
            "AND NEW.state = 'waiting') OR (NEW.initiator_id IS NULL AND NEW.state = 'placed'))",
            BORN,
        ),
        Rule(
            _T,
            "approved",
            "UPDATE",
            "NEW.digest <> '' AND (NEW.state = 'requested' AND OLD.state <> 'requested' OR NEW.state = 'sending' "
            "AND OLD.state <> 'sending') AND NOT EXISTS (SELECT 1 FROM exchange_ops_orderapproval a JOIN desk_stepup s "
            "ON s.id = a.confirmation_id AND s.person_id = a.person_id AND s.digest = a.digest "
            "AND s.purpose = 'approve-order' WHERE a.order_id = NEW.id AND a.digest = NEW.digest "
            "AND a.verdict = 'approve' AND a.person_id <> NEW.initiator_id)",
            NOT_APPROVED,
        ),
        Rule(
            _APPROVAL,
            "not_yours",
            "INSERT",
            "NOT EXISTS (SELECT 1 FROM exchange_ops_order t WHERE t.id = NEW.order_id "
            "AND t.initiator_id = NEW.initiator_id AND t.initiator_id <> NEW.person_id)",
            NOT_YOURS,
        ),
        Rule(
            _APPROVAL,
            "second_factor",
            "INSERT",
            "NEW.verdict <> 'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id "
            "AND s.person_id = NEW.person_id AND s.at = NEW.at AND s.purpose = 'approve-order' "
            "AND s.digest = NEW.digest)",
            NOT_PROVEN,
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
