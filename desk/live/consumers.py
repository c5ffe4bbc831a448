"""The socket of a browser or program: it names the topics that it shows, and hears when one of them changes.

In: `{"follow": [topics]}`, `{"unfollow": [topics]}`. Out: a JSON object, or an array of such objects: `{"followed":
[all topics followed now], "refused": [those of the last request, or lost since]}`, hints `{"topic", "hint"}` and ticks
`{"topic", "tick"}`. A hint carries no figures to act on: the page reads again over HTTP. A tick is the newest value of
a topic of the public market. Admission is checked when a topic is followed and again every three seconds.

A browser connects with its session, a program with a token in the `Authorization` header of the handshake; then no
session counts. It may follow what the token's person may, whatever the token's scope, since following only reads.
Handshake and messages count as requests of the token.

Close codes: 4401 signed out, token over, or rights changed; 4400 not this protocol; 4429 too many messages; 1009 a
message too long; 1013 the browser reads too slowly, something may have been lost, or its session got a new key: connect
again after a while, and read again.
Instead of a socket, a client gets 503 while the broker is away, 429 with too many open sockets or too many requests,
403 from a network that a role of the person can't be used from, and 401 with an invalid token.
"""

import json
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from channels.db import database_sync_to_async
from django.urls import path

from desk import clock
from desk.live import hub
from desk.live.fanout import TRY_LATER, Browser, Fanout
from desk.live.frames import FRAMES
from desk.live.hub import SIGNED_OUT
from desk.people import bearer, presence, session_keys, token_rates
from desk.people.by_role import networks

if TYPE_CHECKING:
    from desk.models import Person

MOST_TOPICS = 100
MOST_SOCKETS_OF_SESSION = 30
MOST_SOCKETS_OF_PERSON = 60
MOST_SOCKETS_OF_TOKEN = 10
MOST_SOCKETS_OF_TOKENS = 20  # of one person
LONGEST_MESSAGE = 8_000
MOST_MESSAGES = 30
MESSAGE_WINDOW_SECONDS = 10.0

NOT_UNDERSTOOD = 4400
TOO_MANY = 4429
TOO_LONG = 1009


async def relay(scope: Any, receive: Any, send: Any) -> None:
    """The socket of one browser. What it receives changes nothing; what it sends can be lost without harm.

    A person who is not signed in, or reaches nothing but enrolment, is refused before the handshake is answered, and so
    is a token that is invalid or makes too many requests.
    """
    if FRAMES not in scope["extensions"]:
        raise RuntimeError("The relay needs a server with whole-frame support. Start it with: python -m project.serve.")
    await receive()
    caller = await _caller(scope, send)
    if caller is None or await _is_outside(caller, scope, send):
        return
    key, person = caller
    socket, is_limited = scope["extensions"][FRAMES], bool(person.limits)  # with other limits the key is another one
    browser = Browser(key=key, socket=socket, person_id=person.pk, is_limited=is_limited)
    try:
        async with hub.joined() as fanout:
            if not _has_room(browser, fanout):
                await _refuse(send, 429, b"Too many connections are open for this session, token or person: close one.")
                return
            await send({"type": "websocket.accept"})
            await _converse(browser, fanout, receive)
    except hub.BrokerAway:
        await _refuse(send, 503, b"Live updates are unavailable at the moment.")


async def _caller(scope: Any, send: Any) -> tuple[presence.Key, "Person"] | None:
    """The caller, by token or by session; None where the handshake was refused."""
    text = bearer.of_handshake(scope["headers"])
    if text is not None:
        return await _token_holder(text, send)
    session_key = scope["session"].session_key or ""
    person = await database_sync_to_async(presence.listener)(session_key, now=clock.now())
    if person is None:
        await send({"type": "websocket.close"})
        return None
    return session_key, person


async def _token_holder(text: str, send: Any) -> tuple[presence.TokenKey, "Person"] | None:
    ask = database_sync_to_async(presence.holder)
    holder: tuple[presence.TokenKey, Person] | None = await ask(text, now=clock.now())
    if holder is None:
        sentence = b"This token is invalid, expired or revoked."
        await _refuse(send, 401, sentence, (b"www-authenticate", bearer.SCHEME.encode()))
        return None
    if seconds := await _seconds_to_wait(holder[0]):
        sentence = f"Too many requests with this token. Try again in {seconds} s.".encode()
        await _refuse(send, 429, sentence, (b"retry-after", str(seconds).encode()))
        return None
    return holder


async def _is_outside(caller: tuple[presence.Key, "Person"], scope: Any, send: Any) -> bool:
    """Whether the handshake was refused because a role of the person can't be used from this network."""
    key, person = caller
    session_key = key if isinstance(key, str) else ""
    sentence = await database_sync_to_async(networks.refusal)(
        person,
        address=networks.address_of_handshake(scope),
        way=networks.SOCKET,
        now=clock.now(),
        session_key=session_key,
    )
    if sentence:
        await _refuse(send, 403, f"Not connected. {sentence}".encode())
    return bool(sentence)


async def _seconds_to_wait(key: presence.Key) -> int:
    """Seconds until a token may do something again; for sessions only the message window counts."""
    if not isinstance(key, presence.TokenKey):
        return 0
    return int(await database_sync_to_async(token_rates.seconds_to_wait)(key.token_id))


async def _refuse(send: Any, status: int, sentence: bytes, *headers: tuple[bytes, bytes]) -> None:
    await send({"type": "websocket.http.response.start", "status": status, "headers": list(headers)})
    await send({"type": "websocket.http.response.body", "body": sentence})


def _has_room(browser: Browser, fanout: Fanout) -> bool:
    """Whether another socket of this session or token, and of this person, may open, in this process.

    Tokens are counted apart, so that a runaway program does not shut out its person's pages.
    """
    by_token = isinstance(browser.key, presence.TokenKey)
    people = [other for other in fanout.browsers if other.person_id == browser.person_id]
    alike = [other for other in people if isinstance(other.key, presence.TokenKey) == by_token]
    same = sum(other.key == browser.key for other in alike)
    if by_token:
        return same < MOST_SOCKETS_OF_TOKEN and len(alike) < MOST_SOCKETS_OF_TOKENS
    return same < MOST_SOCKETS_OF_SESSION and len(alike) < MOST_SOCKETS_OF_PERSON


async def _converse(browser: Browser, fanout: Fanout, receive: Any) -> None:
    """Handle one message after the other, within the limits of rate, size and shape, until the browser is gone."""
    fanout.add(browser)
    arrivals: deque[float] = deque(maxlen=MOST_MESSAGES)
    try:
        while (message := await receive())["type"] == "websocket.receive":
            now, text = time.monotonic(), message.get("text")
            if len(arrivals) == MOST_MESSAGES and arrivals[0] > now - MESSAGE_WINDOW_SECONDS:
                fanout.close(browser, TOO_MANY)
            elif text is None:
                fanout.close(browser, NOT_UNDERSTOOD)
            elif len(text) > LONGEST_MESSAGE:
                fanout.close(browser, TOO_LONG)
            elif await _seconds_to_wait(browser.key):
                fanout.close(browser, TOO_MANY)
            else:
                arrivals.append(now)
                await _obey(browser, fanout, _read(text))
    finally:
        fanout.remove(browser)


async def _obey(browser: Browser, fanout: Fanout, changes: tuple[list[str], list[str]] | None) -> None:
    if changes is None:
        fanout.close(browser, NOT_UNDERSTOOD)
        return
    follow, unfollow = changes
    fanout.unfollow(browser, unfollow)
    may = await _admitted(browser, follow) if follow else []
    if browser.ended:
        return
    if may is None:
        fanout.close(browser, TRY_LATER if await _renewed(browser) else SIGNED_OUT)
        return
    fresh = [topic for topic in may if topic not in browser.topics]
    room = MOST_TOPICS - len(browser.topics)
    fanout.follow(browser, fresh[:room])
    refused = [topic for topic in follow if topic not in may] + fresh[room:]
    fanout.say(browser, hub.answer(browser, refused))


async def _admitted(browser: Browser, topics: list[str]) -> list[str] | None:
    ask = database_sync_to_async(presence.admitted)
    may: list[str] | None = await ask(browser.key, topics, now=clock.now())
    return may


async def _renewed(browser: Browser) -> bool:
    """Whether its session goes on under a new key, with which this browser will connect again."""
    if not isinstance(browser.key, str):
        return False
    ask = database_sync_to_async(session_keys.is_renewed)
    return bool(await ask(browser.key, now=clock.now()))


def _read(text: str) -> tuple[list[str], list[str]] | None:
    """The topics to follow and to leave, or None for anything but the two known members holding texts."""
    try:
        message: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not message or not message.keys() <= {"follow", "unfollow"}:
        return None
    lists = [message.get("follow", []), message.get("unfollow", [])]
    if not all(isinstance(one, list) and all(isinstance(topic, str) for topic in one) for one in lists):
        return None
    follow, unfollow = (list(dict.fromkeys(one)) for one in lists)
    return follow, unfollow


# The project wraps this in the origin check and the session.
websocket_urlpatterns = [path("ws/", relay)]  # type: ignore[arg-type]
