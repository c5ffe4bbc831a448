"""Incidents, which people have to look at: opened when something goes wrong and closed when that is over."""
