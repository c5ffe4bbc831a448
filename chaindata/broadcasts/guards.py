"""What the database itself refuses about transactions to be sent: what every machine's rows are held to.

The bytes that a second factor was given for are among what is never edited, and they leave once at most.
"""

from typing import Final

from chaindata.broadcasts.models import ChainBroadcastEvent
from chaindata.broadcasts.mover import MACHINE
from desk.machines.guards import Guards, Rule

SENT_ONCE = "a transaction is sent once at most"
GUARDS: Final = Guards(
    machine=MACHINE,
    history=(ChainBroadcastEvent,),
    own=(
        Rule(
            "chaindata_chainbroadcast",
            "sent_once",
            "UPDATE",
            "NEW.sends < OLD.sends OR NEW.sends > 1 OR (NEW.state = 'requested' AND NEW.sends > 0)",
            SENT_ONCE,
        ),
    ),
)
