"""What every process of the desk has: logging, request ids, and a sign of life."""
