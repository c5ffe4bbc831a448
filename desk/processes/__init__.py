"""What every process of the desk has: its log, the number of what it works on, and a sign that it is at work."""
