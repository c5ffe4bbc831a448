"""The first page: which blocks a role sees in which order, and what each of them reads."""
