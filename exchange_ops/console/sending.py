"""How a worker sends a request of the console: over HTTP or a socket, with the key of the fewest rights for it."""

import time
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from django.conf import settings

from chaindata.cache import service
from exchange_ops.client.stream_calls import StreamClient
from exchange_ops.console.calls import CannotSend, Reply
from exchange_ops.console.entries import CHAIN, EXCHANGE, RIGHTS, Entry
from exchange_ops.keys import store
from exchange_ops.shared import places, public_client
from exchange_ops.shared.models import Account
from exchange_ops.wire.streams import Address
from wire.http_exchange import Answer

FOLLOWED_S: Final = 3  # how long a subscription is listened to
MOST_NOTIFIED: Final = 200


def send(entry: Entry, *, account: Account | None, arguments: Mapping[str, object]) -> Reply:
    """Send it once and return the answer. Raises `CallFailed`, and `CannotSend` where there is no key for it."""
    try:
        if entry.service == EXCHANGE:
            return _to_exchange(entry, account, arguments)
        if entry.service == CHAIN:
            return _to_chain(entry, arguments)
        return _over_socket(entry, account, arguments)
    except store.NoUsableKey as problem:
        raise CannotSend(f"Not sent: {problem}") from None


def _to_exchange(entry: Entry, account: Account | None, arguments: Mapping[str, object]) -> Reply:
    client = public_client.open_client() if account is None else store.client_for(account, entry.right)
    try:
        return _reply(client.answer(entry.name, **arguments))
    finally:
        client.close()


def _to_chain(entry: Entry, arguments: Mapping[str, object]) -> Reply:
    client = service.open_client()
    try:
        return _reply(client.answer(entry.name, **arguments))
    finally:
        client.close()


def _reply(answer: Answer) -> Reply:
    return Reply(answer.body, answer.elapsed_ms, answer.status)


def _over_socket(entry: Entry, account: Account | None, arguments: Mapping[str, object]) -> Reply:
    """The result, and for a subscription the notifications of the first seconds; closing the socket ends it."""
    address = Address(entry.place)
    credentials = store.credentials_of(store.stream_key(account, RIGHTS[address])) if account is not None else None
    place = places.default() if account is None else store.place_of(account)
    client = StreamClient(place.stream_url, address, credentials=credentials, private_hosts=settings.PRIVATE_HOSTS)
    try:
        began_ns = time.monotonic_ns()
        answer: Any = client.call(entry.name, **arguments)
        elapsed_ms = (time.monotonic_ns() - began_ns) // 1_000_000
        if entry.notifies:
            answer = {"result": answer, "notifications": _followed(client)}
    finally:
        client.close()
    hidden = (credentials.secret.reveal(),) if credentials is not None else ()
    return Reply(msgspec.json.encode(answer), elapsed_ms, hidden=hidden)


def _followed(client: StreamClient) -> list[dict[str, Any]]:
    """The notifications of a subscription until the time is over or there are enough."""
    until_ns = time.monotonic_ns() + FOLLOWED_S * 1_000_000_000
    notified: list[dict[str, Any]] = []
    while (remaining_ns := until_ns - time.monotonic_ns()) > 0 and len(notified) < MOST_NOTIFIED:
        events = client.notified(seconds=max(remaining_ns / 1_000_000_000, 0.001))
        notified += [{"method": event.name, "params": event.record} for event in events]
    return notified[:MOST_NOTIFIED]
