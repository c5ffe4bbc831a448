"""What somebody wishes of the pages they read: hours of their zone, figures as they read them, and where they begin."""
