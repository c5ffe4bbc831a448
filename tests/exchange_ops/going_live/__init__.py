"""Going live."""
