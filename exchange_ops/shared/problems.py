"""The key of a request's problems that concern no single field."""

FORM = "__all__"
