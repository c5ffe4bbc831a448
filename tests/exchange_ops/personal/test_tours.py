"""The first steps of each role: three, one after another, skipped whenever one likes, and never again."""

import pytest
from django.contrib.auth.models import Group

from desk.people import roles
from desk.personal.models import PersonalSettings
from desk.web import tours
from exchange_ops.pages.tours import TOURS

pytestmark = pytest.mark.django_db

MARK = 'id="tour"'


def press(client, action):
    return client.post("/account/tour/", {"action": action})


def test_every_role_has_three_steps_on_pages_that_it_may_open(make_person, signed_in):
    assert set(TOURS) == set(roles.ALL)
    for role in roles.ALL:
        client = signed_in(make_person(role, username=f"new-{role}"))
        first = client.get("/").content.decode()
        assert f"First time here? The {role} tour has three steps" in first
        answer = press(client, "next")
        for number, step in enumerate(tours.steps_of(role), start=1):
            page = client.get(answer["Location"])
            assert page.status_code == 200, (role, step)
            words = page.content.decode()
            assert f"step {number} of 3" in words
            assert step.title in words
            answer = press(client, "next")
        assert answer["Location"] == "/"
        assert MARK not in client.get("/").content.decode()


def test_it_is_in_the_way_of_nothing(signed_in, operator, payable):
    client = signed_in(operator)
    assert MARK in client.get("/").content.decode()
    assert MARK not in client.get("/orders/").content.decode()
    press(client, "next")
    assert "Your tour: step 1 of 3" in client.get("/").content.decode()
    assert MARK not in client.get("/withdrawals/").content.decode(), "a page of a later step"
    assert MARK in client.get("/withdrawals/new/").content.decode()


def test_skipped_is_skipped_on_every_device_and_for_good(signed_in, operator):
    press(signed_in(operator), "skip")
    again = signed_in(operator)
    assert MARK not in again.get("/").content.decode()
    for action in ("next", "back", "skip"):
        assert press(again, action)["Location"] == "/"
    assert PersonalSettings.objects.get().tours == {"operator": tours.OVER}


def test_it_comes_again_when_it_is_asked_for(signed_in, operator):
    client = signed_in(operator)
    press(client, "skip")
    assert "Start the tour again" in client.get("/account/settings/").content.decode()
    assert press(client, "again")["Location"] == "/"
    assert MARK in client.get("/").content.decode()


def test_back_stays_at_the_first_step(signed_in, operator):
    client = signed_in(operator)
    press(client, "next")
    assert press(client, "next")["Location"] == "/withdrawals/"
    assert press(client, "back")["Location"] == "/withdrawals/new/"
    assert press(client, "back")["Location"] == "/withdrawals/new/"


def test_a_role_that_comes_later_has_its_own_and_settings_keep_it(signed_in, operator):
    client = signed_in(operator)
    press(client, "skip")
    usual = {"zone": "UTC", "grouping": "comma", "density": "compact", "theme": "", "start_page": "ledger"}
    assert client.post("/account/settings/", usual).status_code == 302
    assert PersonalSettings.objects.get().tours == {"operator": tours.OVER}
    operator.groups.add(Group.objects.get(name="treasury"))
    client = signed_in(operator)
    for path in ("/", "/ledger/"):
        assert "The treasury tour has three steps" in client.get(path).content.decode(), "where they begin too"


@pytest.mark.parametrize("sent", [{}, {"action": ""}, {"action": "finish"}, {"action": "next" * 900}])
def test_no_other_action_does_anything(signed_in, operator, sent):
    assert signed_in(operator).post("/account/tour/", sent).status_code == 422
    assert not PersonalSettings.objects.exists()


def test_who_has_no_role_has_no_tour(signed_in, make_person):
    client = signed_in(make_person(username="nobody"))
    assert MARK not in client.get("/account/settings/").content.decode()
    assert press(client, "next").status_code == 302


def test_a_tour_has_three_steps():
    with pytest.raises(ValueError, match="must have 3 steps, not 2"):
        tours.offer("operator", tours.steps_of("operator")[:2])
