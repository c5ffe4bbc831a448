"""The desk as a craft: keys alone, and a sign of progress wherever somebody waits."""
