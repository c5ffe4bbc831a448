"""One list of everything that waits for a person, with who has taken each entry and the comments on it."""
