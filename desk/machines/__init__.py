"""The machine kit: what moves through states is declared once, and everything else is read from the declaration."""
