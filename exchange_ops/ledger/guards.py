"""What the database itself refuses about the ledger's entries and their earlier versions."""

from typing import Final

from desk.machines.guards import Guards
from exchange_ops.ledger.models import LedgerEntry, LedgerVersion

GUARDS: Final = Guards(history=(LedgerVersion,), records=(LedgerEntry,))
