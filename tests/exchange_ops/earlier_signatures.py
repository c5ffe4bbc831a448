"""Second factors as versions before 0.8.0 took them: for the digest of the page alone, whatever was typed beside it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from desk.people.signing import signed_fields, signed_lists
from desk.people.signing.signed_lists import Decision, Terms


@contextmanager
def earlier_version() -> Iterator[None]:
    """What is confirmed inside is stored as an earlier version stored it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signed_fields, "bind", lambda digest, fields: digest)
        patch.setattr(signed_lists, "terms_of", _of_the_digest)
        yield


def _of_the_digest(decision: Decision) -> Terms:
    return Terms(decision.purpose, decision.digest)
