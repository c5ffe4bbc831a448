"""The machine of margin actions: how a row is moved, and what the database itself refuses. `states` is its table.

Beyond what every machine's rows are held to: an action is sent once at most, and what the exchange reported of margin
accounts is history.
"""

from typing import Final

from desk.machines.guards import Guards, Rule
from desk.machines.mover import CannotMove, Machine
from exchange_ops.margin.models import MarginReport
from exchange_ops.positions.models import MarginAction, MarginActionCall, MarginActionEvent

__all__ = ["CannotMove", "create", "lock", "move", "touch"]

ADVANCE_TASK = "exchange_ops.advance_margin_action"
TOPIC = "margin"
MACHINE: Machine[MarginAction] = Machine(
    model=MarginAction,
    events=MarginActionEvent,
    task=ADVANCE_TASK,
    lists=(TOPIC,),
    locked_with=("account", "initiator"),
)
create, move, touch, lock = MACHINE.create, MACHINE.move, MACHINE.touch, MACHINE.lock

# What the database itself refuses -------------------------------------------------------------------------------------

_T: Final = "exchange_ops_marginaction"
SENT_ONCE = "a margin action is sent once at most"

GUARDS: Final = Guards(
    machine=MACHINE,
    history=(MarginActionEvent, MarginReport),
    records=(MarginActionCall,),
    own=(
        Rule(
            _T,
            "sent_once",
            "UPDATE",
            "NEW.sends < OLD.sends OR NEW.sends > 1 OR (NEW.state = 'requested' AND NEW.sends > 0) "
            "OR (NEW.state = 'sending' AND NEW.sends <> 1)",
            SENT_ONCE,
        ),
    ),
)
