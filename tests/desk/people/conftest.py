"""Somebody of treasury with both kinds of second factor."""

from typing import Final

import pytest

from desk.models import Person
from desk.people import totp
from tests.desk.authenticator import SoftKey
from wire.values import Secret

SECRET: Final = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")  # of the one-time codes of `person`


@pytest.fixture
def person(treasury: Person) -> Person:
    """Somebody of treasury with an authenticator app."""
    totp.enrol(treasury, SECRET)
    return treasury


@pytest.fixture
def key(person: Person) -> SoftKey:
    """A passkey of that person, beside their app."""
    soft_key = SoftKey()
    soft_key.enrol(person)
    return soft_key
