"""Secrets at rest."""

from wire.values import Secret


def seal(secret: Secret, *, context: str) -> str:
    """Encrypt the secret for one place, named by `context`."""
    raise NotImplementedError


def unseal(sealed: str, *, context: str) -> Secret:
    """Decrypt what was sealed for this place."""
    raise NotImplementedError
