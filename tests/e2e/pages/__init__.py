"""Pages, one by one, in a real browser."""
