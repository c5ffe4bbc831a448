"""A broker that comes and goes: nobody goes on with a page that may have missed something."""

import contextlib
import time
from collections.abc import Callable

import pytest
import websocket

from desk.live import announcements, fanout
from desk.models import Person
from tests import servers
from tests.desk.conftest import Browser, Open

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("rooms")]


def come_again(open_socket: Open, person: Person) -> Browser:
    """Knock, as a page does, until the relay lets one in."""
    for _ in range(20):
        with contextlib.suppress(websocket.WebSocketBadStatusException):
            return open_socket(person)
        time.sleep(0.25)
    pytest.fail("the relay did not open again")


def test_while_the_broker_is_away_browsers_are_sent_away_and_hear_again_afterwards(
    own_redis: Callable[[], servers.Redis], open_socket: Open, operator: Person, treasury: Person
) -> None:
    first, second = open_socket(operator), open_socket(treasury)
    first.say(follow=["open:1"])
    own_redis().stop()
    announcements.announce("open:1", number=1)
    assert first.close_code(20) == second.close_code(20) == fanout.TRY_LATER
    with pytest.raises(websocket.WebSocketBadStatusException) as refusal:
        open_socket(operator)
    assert refusal.value.status_code == 503
    own_redis()
    again = come_again(open_socket, operator)
    again.say(follow=["open:1"])
    announcements.settle()
    announcements.announce("open:1", number=2)
    hint = again.hear()["hint"]
    if hint == {"number": 1}:  # what was announced while the broker was away may still come, and comes first
        hint = again.hear()["hint"]
    assert hint == {"number": 2}


def test_a_broker_that_was_away_for_a_moment_is_noticed(
    own_redis: Callable[[], servers.Redis], open_socket: Open, operator: Person
) -> None:
    browser = open_socket(operator)
    browser.say(follow=["open:1"])
    own_redis().stop()
    own_redis()
    assert browser.close_code(20) == fanout.TRY_LATER
    again = come_again(open_socket, operator)
    again.say(follow=["open:1"])
    announcements.announce("open:1", number=3)
    assert again.hear()["hint"] == {"number": 3}
