"""Two accounts, and people who hold their role at one of them alone."""

import pytest

from desk import clock
from desk.people import totp
from exchange_ops.shared.models import Account
from tests.desk.staff.keeping import SECRET
from tests.exchange_ops import rows


@pytest.fixture
def first(db):
    now = clock.now()
    found = rows.account(now=now)
    rows.currency(now=now, transfer_enabled=True, precision_transfer=8)
    rows.price(now=now)
    rows.balance(now=now)
    return found


@pytest.fixture
def second(first):
    return Account.objects.create(name="Second desk", quote_currency="USD")


@pytest.fixture
def limited(make_person):
    """`limited("treasury", first)`: somebody who holds the role at these accounts alone; at every one where none is."""

    def make(role, *accounts, username=None):
        words = "".join(f" {role}:{account.pk}" for account in accounts)
        name = username or "-".join(["the", role, *(str(account.pk) for account in accounts)])
        person = make_person(role, username=name, limits=f"{words} " if words else "")
        totp.enrol(person, SECRET)
        return person

    return make
