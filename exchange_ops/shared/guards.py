"""What the database itself refuses about accounts."""

from typing import Final

from desk.machines.guards import Guards, Rule, edited, table_of
from exchange_ops.shared.models import Account

GUARDS: Final = Guards(
    own=(
        Rule(
            table_of(Account),
            "place_fixed",
            "UPDATE",
            edited(["place"]),
            "an account stays at its exchange: its ledger and its keys belong there",
        ),
    ),
)
