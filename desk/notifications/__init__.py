"""Telling people and other systems what needs them: found from rows, queued as rows, delivered at least once."""
