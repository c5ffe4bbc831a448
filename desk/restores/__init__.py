"""What the desk does when its rows fell back to an earlier moment: it sends nothing until two people have looked.

A restored backup, or a copy of the database that lags and takes over, knows nothing of what was sent afterwards, and
would send it again. `signs` recognises it, `gate` keeps every call that moves money from leaving, `settling` takes the
words of two people on everything that waited to be sent, and each room says what of its own that is (`waiting`).
"""
