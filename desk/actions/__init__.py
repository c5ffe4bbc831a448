"""What waits for a person, from wherever it comes: one list, with who has taken each entry and what was said of it."""
