"""Orders beyond a person's limit, on which somebody else decides."""
