"""What of ours stands behind every documented operation: read from the code, never kept by hand."""
