"""Notifies people and other systems of what needs them: found from rows, queued as rows, delivered at least once."""
