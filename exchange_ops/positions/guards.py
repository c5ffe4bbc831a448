"""What the database itself refuses about margin actions beyond what every machine's rows are held to.

An action is sent once at most, and what the exchange told of margin accounts is history.
"""

from typing import Final

from desk.machines.guards import Guards, Rule
from exchange_ops.margin.models import MarginReport
from exchange_ops.positions.models import MarginActionCall, MarginActionEvent
from exchange_ops.positions.mover import MACHINE

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
