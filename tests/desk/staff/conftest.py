"""Two administrators with authenticator apps, on a desk that is no demo."""

import pytest

from desk.people import totp
from tests.desk.staff.keeping import SECRET, answer_at


@pytest.fixture(autouse=True)
def no_demo(settings):
    settings.DEMO = False


@pytest.fixture
def enrolled(make_person):
    """`enrolled("admin", username="a")`: somebody with an authenticator app."""

    def make(*held, username):
        person = make_person(*held, username=username)
        totp.enrol(person, SECRET)
        return person

    return make


@pytest.fixture
def admins(enrolled):
    return enrolled("admin", username="first"), enrolled("admin", username="second")


@pytest.fixture
def code():
    return lambda step=0: answer_at(step)
