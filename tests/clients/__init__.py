"""The packages for programs, against the real desk."""
