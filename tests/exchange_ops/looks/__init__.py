"""How the pages a company runs on look with nothing on them, and with far too much."""
