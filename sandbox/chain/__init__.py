"""The sandbox's chain: a small chain of its own by the rules of a test network, and the token layers on it."""
