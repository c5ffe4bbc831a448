"""What the desk does when its database fell back to an earlier moment: it sends nothing until two people have decided.

A restored backup, or a lagging copy of the database that takes over, knows nothing of what was sent afterwards and
would send it again. `signs` recognises this and stops every call that moves money. In `settling` two people decide on
everything that waited to be sent, and each room says what that is (`waiting`).
"""
