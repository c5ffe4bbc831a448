"""The desk for programs: read figures, draft requests. Nothing here approves, and nothing here calls out."""
