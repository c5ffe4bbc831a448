"""Changes of the rules."""
