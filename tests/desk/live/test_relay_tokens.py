"""The socket of a program, which brings a token: who gets in, what it follows, and when it is closed. A real server."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
import websocket
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from desk import clock
from desk.live import announcements, consumers, hub
from desk.models import ApiToken, Person
from desk.people import presence, scopes, tokens
from desk.people.token_rates import TokenRate
from tests.desk.conftest import Browser, Open

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("rooms")]
OVER = 4401


def token(person: Person, **options: Any) -> tuple[ApiToken, str]:
    row, secret = tokens.create(person=person, name="feed", now=clock.now(), **options)
    return row, secret.reveal()


@pytest.fixture
def follow(live_desk: Any) -> Iterator[Callable[..., Browser]]:
    """`follow(text)`: a program's socket with this token, without origin and session."""
    opened: list[Browser] = []

    def open_with(text: str, *, cookie: str = "", **options: Any) -> Browser:
        options = {"header": [f"Authorization: Bearer {text}"], "suppress_origin": True} | options
        opened.append(Browser(live_desk, cookie, **options))
        return opened[-1]

    yield open_with
    for each in opened:
        each.socket.close(timeout=1)
    announcements.settle()


def refused(follow: Callable[..., Browser], *arguments: Any, **options: Any) -> int:
    """The status with which the handshake is refused."""
    with pytest.raises(websocket.WebSocketBadStatusException) as refusal:
        follow(*arguments, **options)
    return int(refusal.value.status_code)


@pytest.mark.parametrize("scope", ["read", "draft"])
def test_a_token_follows_what_its_person_may(follow: Callable[..., Browser], operator: Person, scope: str) -> None:
    row, text = token(operator, scope=scope)
    program = follow(text)
    answer = program.say(follow=["open:1", "vault", f"mine:{operator.pk}", "unknown", "quote:BTCUSD"])
    assert answer == {
        "followed": sorted(["open:1", f"mine:{operator.pk}", "quote:BTCUSD"]),
        "refused": ["vault", "unknown"],
    }
    announcements.announce("open:1", version=3)
    assert program.hear() == {"topic": "open:1", "hint": {"version": 3}}
    row.refresh_from_db()
    assert row.last_used_at is not None


@pytest.mark.parametrize("text", ["", "csn_", "csn_wrong", "x" * 5_000, "' OR 1=1", "token:1"])
def test_what_is_no_token_gets_401(follow: Callable[..., Browser], operator: Person, text: str) -> None:
    token(operator)
    assert refused(follow, text) == 401


@pytest.mark.parametrize("event", ["revoked", "expired", "switched off", "no factor"])
def test_a_token_that_is_over_gets_401(
    follow: Callable[..., Browser], operator: Person, settings: Any, event: str
) -> None:
    row, text = token(operator)
    end(row, operator, settings, event)
    assert refused(follow, text) == 401


def end(row: ApiToken, person: Person, settings: Any, event: str) -> None:
    """The token is over, by this."""
    if event == "revoked":
        tokens.revoke(token_id=row.pk, now=clock.now())
    elif event == "expired":
        ApiToken.objects.filter(pk=row.pk).update(expires_at=clock.now() - timedelta(seconds=1))
    elif event == "switched off":
        Person.objects.filter(pk=person.pk).update(is_active=False)
    elif event == "role":
        person.groups.clear()
    elif event == "accounts":
        scopes.set_grants(person, ["operator:2"])
    else:
        settings.SECOND_FACTOR_REQUIRED = True


@pytest.mark.parametrize("event", ["revoked", "expired", "switched off", "role", "accounts", "no factor"])
def test_an_open_socket_is_closed_within_five_seconds_of(
    follow: Callable[..., Browser], operator: Person, settings: Any, event: str
) -> None:
    row, text = token(operator)
    program = follow(text)
    program.say(follow=["open:1"])
    end(row, operator, settings, event)
    assert program.close_code(5) == OVER
    if event in {"role", "accounts"}:
        assert follow(text).say(follow=["vault"])["refused"] == ["vault"], "it may come again, and follow less"


def test_following_more_with_a_revoked_token_closes_at_once(
    follow: Callable[..., Browser], operator: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "RECHECK_SECONDS", 60)
    row, text = token(operator)
    program = follow(text)
    tokens.revoke(token_id=row.pk, now=clock.now())
    program.socket.send(json.dumps({"follow": ["open:1"]}))
    assert program.close_code(3) == OVER


def test_a_token_of_one_account_follows_nothing_of_another(
    follow: Callable[..., Browser], operator: Person, another_room: Callable[..., None]
) -> None:
    another_room(topics={"row": lambda person, key: person.has_role("operator", scope=key)})
    scopes.set_grants(operator, ["operator:2"])
    _, text = token(operator)
    program = follow(text)
    assert program.say(follow=["row:1", "row:2", "open"]) == {"followed": ["open", "row:2"], "refused": ["row:1"]}
    announcements.announce("open", account=1, amount="7")
    assert program.hear() == {"topic": "open", "hint": {}}, "a hint for the whole desk says only that something changed"


def test_the_token_counts_and_not_the_session_beside_it(
    follow: Callable[..., Browser], operator: Person, treasury: Person
) -> None:
    client = Client()
    client.force_login(treasury)
    cookie = next(iter(client.cookies.values())).value
    _, text = token(operator)
    assert follow(text, cookie=cookie).say(follow=["vault"])["refused"] == ["vault"]
    assert refused(follow, "csn_wrong", cookie=cookie) == 401


def test_a_token_stands_in_the_header_alone(follow: Callable[..., Browser], operator: Person) -> None:
    _, text = token(operator)
    for query in (f"?token={text}", f"?access_token={text}", f"?authorization=Bearer%20{text}"):
        assert refused(follow, "", header=[], query=query) == 403
    assert refused(follow, "", header=[f"Sec-WebSocket-Protocol: {text}"]) == 403
    assert refused(follow, "", header=[f"Authorization: Bearer {text}", "Authorization: Bearer x"]) == 403


def test_a_foreign_page_with_a_token_stays_out(
    follow: Callable[..., Browser], live_desk: Any, operator: Person
) -> None:
    _, text = token(operator)
    header = [f"Authorization: Bearer {text}"]
    assert refused(follow, text, header=header, suppress_origin=False, origin="https://evil.example") == 403
    assert follow(text, suppress_origin=False, origin=live_desk.url).say(follow=["open"])["followed"] == ["open"]


def test_a_session_key_made_of_a_tokens_number_is_nobodys(open_socket: Open, live_desk: Any, operator: Person) -> None:
    row, _ = token(operator)
    for cookie in (f"token:{row.pk}", f"TokenKey(token_id={row.pk}, grants=('operator',))"):
        with pytest.raises(websocket.WebSocketBadStatusException):
            Browser(live_desk, cookie)


# A program that went wild ---------------------------------------------------------------------------------------------


@pytest.fixture
def few_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(TokenRate, "THROTTLE_RATES", {"token": "4/min"})


@pytest.mark.usefixtures("few_requests")
def test_handshakes_and_messages_count_as_requests_of_the_token(
    follow: Callable[..., Browser], operator: Person
) -> None:
    _, text = token(operator)
    program = follow(text)
    for number in range(3):
        program.say(follow=[f"open:{number}"])
    with pytest.raises(websocket.WebSocketBadStatusException) as refusal:
        follow(text)
    assert refusal.value.status_code == 429
    assert 0 < int(refusal.value.resp_headers["retry-after"]) <= 60
    program.socket.send(json.dumps({"follow": ["open:9"]}))
    assert program.close_code(5) == consumers.TOO_MANY
    assert follow(token(operator)[1]).say(follow=["open"])["followed"] == ["open"], "tokens are counted apart"


def test_a_flood_of_subscriptions_is_bounded(follow: Callable[..., Browser], operator: Person) -> None:
    _, text = token(operator)
    program = follow(text)
    answer = program.say(follow=[f"open:{number}" for number in range(consumers.MOST_TOPICS + 5)])
    assert len(answer["followed"]) == consumers.MOST_TOPICS
    assert len(answer["refused"]) == 5
    with suppress(OSError):
        for number in range(consumers.MOST_MESSAGES + 1):
            program.socket.send(json.dumps({"follow": [f"open:{number}"]}))
    assert program.close_code() == consumers.TOO_MANY


def test_sockets_of_a_token_and_of_a_persons_tokens_are_bounded_and_leave_room_for_pages(
    follow: Callable[..., Browser], open_socket: Open, operator: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "MOST_SOCKETS_OF_TOKEN", 2)
    monkeypatch.setattr(consumers, "MOST_SOCKETS_OF_TOKENS", 3)
    monkeypatch.setattr(consumers, "MOST_SOCKETS_OF_PERSON", 1)
    first, second = token(operator)[1], token(operator)[1]
    for _ in range(2):
        follow(first).say(follow=["open"])
    assert refused(follow, first) == 429
    follow(second).say(follow=["open"])
    assert refused(follow, second) == 429
    assert open_socket(operator).say(follow=["open"])["followed"] == ["open"]


def test_many_tokens_are_asked_about_with_as_many_queries_as_one(db: None, operator: Person, treasury: Person) -> None:
    def queries(people: list[Person]) -> int:
        keys = [presence.TokenKey(token(person)[0].pk, tuple(person.grants)) for person in people]
        with CaptureQueriesContext(connection) as found:
            may = presence.admitted_all({key: ["open"] for key in keys}, now=clock.now())
        assert list(may.values()) == [["open"]] * len(keys)
        return len(found)

    assert queries([operator]) == queries([operator, treasury, operator])


def test_a_new_password_ends_the_sockets_of_tokens(follow: Callable[..., Browser], operator: Person) -> None:
    _, text = token(operator)
    program = follow(text)
    program.say(follow=["open:1"])
    operator.set_password("an entirely different sentence")
    operator.save(update_fields=["password"])
    assert program.close_code(5) == OVER
