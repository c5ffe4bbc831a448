"""The machine of brackets: how a row is moved, and what the database itself refuses. `states` is its table.

Beyond what every machine's rows are held to: an order of a bracket closes, on the account, symbol and wallet of its
bracket, and belongs to it for good.
"""

from typing import Final

from desk.machines.guards import NO_EDIT, Guards, Rule, edited, refilled
from desk.machines.mover import CannotMove, Machine
from exchange_ops.orders.brackets.models import Bracket, BracketEvent, BracketLeg

__all__ = ["CannotMove", "create", "lock", "move", "touch"]

ADVANCE_TASK = "exchange_ops.advance_bracket"
TOPIC = "orders"
MACHINE: Machine[Bracket] = Machine(
    model=Bracket,
    events=BracketEvent,
    task=ADVANCE_TASK,
    lists=(TOPIC,),
    locked_with=("account", "initiator", "entry"),
)
create, move, touch, lock = MACHINE.create, MACHINE.move, MACHINE.touch, MACHINE.lock

# What the database itself refuses ------------------------------------------------------------------------------------

_LEG: Final = "exchange_ops_bracketleg"
_FIXED: Final = ("id", "bracket_id", "number", "role", "order_id", "created_at")
_BRACKET: Final = "exchange_ops_bracket"
CLOSES: Final = "an order of a bracket closes what its entry opened"
ENDS_ONCE: Final = "a bracket ends once, in one way"

GUARDS: Final = Guards(
    machine=MACHINE,
    history=(BracketEvent,),
    records=(BracketLeg,),
    own=(
        Rule(
            _LEG,
            "closes",
            "INSERT",
            "NOT EXISTS (SELECT 1 FROM exchange_ops_bracket b JOIN exchange_ops_order o ON o.id = NEW.order_id "
            "WHERE b.id = NEW.bracket_id AND o.account_id = b.account_id AND o.symbol = b.symbol "
            "AND o.margin = b.margin AND o.side <> b.side AND b.state <> 'closed' AND b.state <> 'ending')",
            CLOSES,
        ),
        Rule(
            _BRACKET,
            "ends_once",
            "UPDATE",
            "(OLD.outcome <> '' AND NEW.outcome <> OLD.outcome) "
            "OR (OLD.ended_by <> '' AND NEW.ended_by <> OLD.ended_by)",
            ENDS_ONCE,
        ),
        Rule(_LEG, "no_edit", "UPDATE", f"{edited(_FIXED)} OR {refilled(('settled_at',))}", NO_EDIT),
    ),
)
