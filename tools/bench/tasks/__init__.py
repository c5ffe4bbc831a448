"""Everyday tasks of each role, done once with a pointer and once with keys alone, counted in steps and seconds."""
