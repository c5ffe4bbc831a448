"""A person's own settings for pages: time zone, format of figures, and start page."""
