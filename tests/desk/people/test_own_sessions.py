"""A person's own sessions: listed without their keys, ended one at a time, and nobody else's."""

from datetime import timedelta

import pytest
from django.test import Client

from desk import clock
from desk.models import AuditEvent
from desk.people import own_sessions, presence

pytestmark = pytest.mark.django_db
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Safari/604.1"


def signed_in(person, password, agent=FIREFOX):
    client = Client(headers={"User-Agent": agent})
    client.post("/sign-in/", {"login": person.username, "password": password})
    return client


def listed(client):
    response = client.get("/account/sessions/")
    assert response.status_code == 200
    return response.context["sessions"], response.content.decode()


def test_every_session_is_listed_with_its_device_and_without_its_key(operator, treasury, password):
    first, second = signed_in(operator, password), signed_in(operator, password, SAFARI)
    signed_in(treasury, password)
    found, page = listed(first)
    assert {(one.device, one.is_this) for one in found} == {("Firefox on Linux", True), ("Safari on iPhone", False)}
    assert page.count("End this session") == 1
    for client in (first, second):
        assert client.session.session_key not in page


def test_a_session_that_is_ended_is_over_at_once_and_the_others_go_on(operator, password):
    here, there = signed_in(operator, password), signed_in(operator, password, SAFARI)
    key = there.session.session_key
    (other,) = [one for one in listed(here)[0] if not one.is_this]
    response = here.post("/account/sessions/end/", {"session": other.handle}, follow=True)
    assert "Safari on iPhone, signed in " in response.content.decode()
    assert ": session ended." in response.content.decode()
    assert presence.person_of(key, now=clock.now()) is None
    assert there.get("/account/sessions/").status_code == 302
    assert len(listed(here)[0]) == 1
    event = AuditEvent.objects.get(action="person.session_ended")
    assert (event.actor_id, event.subject) == (operator.pk, f"person:{operator.pk}")
    assert key not in event.after_text
    again = here.post("/account/sessions/end/", {"session": other.handle}, follow=True)
    assert "had already ended" in again.content.decode()


@pytest.mark.parametrize("handle", ["", "x", "é", "0" * 64, "' OR 1=1 --", "x" * 100_000])
def test_nobody_ends_what_is_not_theirs(operator, treasury, password, handle):
    mine, theirs = signed_in(operator, password), signed_in(treasury, password)
    (foreign,) = listed(theirs)[0]
    for wanted in (handle, foreign.handle):
        mine.post("/account/sessions/end/", {"session": wanted})
    assert theirs.get("/account/sessions/").status_code == 200
    assert not AuditEvent.objects.filter(action="person.session_ended").exists()


def test_sessions_that_are_over_are_not_listed(operator, password, settings):
    here = signed_in(operator, password)
    signed_in(operator, password, SAFARI)
    later = clock.now() + timedelta(seconds=settings.SESSION_IDLE_SECONDS + 1)
    assert own_sessions.sessions(operator, session_key=here.session.session_key, now=later) == []


@pytest.mark.parametrize(
    ("agent", "device"),
    [
        ("", "A browser"),
        ("curl/8", "A browser"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/150.0 Safari/537.36 Edg/150.0", "Edge on Windows"),
        ("<script>alert(1)</script> Chrome/1 Android", "Chrome on Android"),
    ],
)
def test_a_device_has_a_name_people_know(agent, device):
    assert own_sessions.device_of(agent) == device


def test_the_passkey_page_speaks_of_passkeys():
    from django.template.loader import render_to_string

    assert render_to_string("mfa/messages/webauthn_added.txt").strip() == "Passkey added."
    assert render_to_string("mfa/messages/webauthn_removed.txt").strip() == "Passkey removed."
