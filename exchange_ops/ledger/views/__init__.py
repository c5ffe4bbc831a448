"""Pages of the ledger: all of its lines, what came in, and to whom it was paid out."""
