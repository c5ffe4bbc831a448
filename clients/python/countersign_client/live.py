"""Following topics: a socket that says which of them changed, opened anew whenever it is lost."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from countersign_client import problems

_NOT_UNDERSTOOD = 4400
_TITLES = {401: "Unauthorized", 403: "Forbidden"}


@dataclass(frozen=True, slots=True)
class Update:
    """Something behind `topic` changed: read it again.

    `hint` says what, as far as the desk says so, and holds no figures to act on. `tick` is the newest value of a topic
    of the public markets, None for all others.
    """

    topic: str
    hint: Mapping[str, Any]
    tick: Any = None


class Lost(Exception):
    """The socket is gone, or was not opened; another one may be. `pause_s` is how long the desk wants no attempt."""

    def __init__(self, sentence: str, pause_s: str | None = None) -> None:
        super().__init__(sentence)
        self.pause_s = pause_s


def updates(url: str, authorization: str, topics: Sequence[str], *, silence_s: float) -> Iterator[Update]:
    """What changes, over one socket: first each topic once, since something may have changed before it was followed.

    Raises `Lost`; `NotSignedIn` and `NotAllowed` where another attempt is no use; `Unreadable` for no desk.
    """
    try:
        import websocket  # late: following is an extra of this package, reading and drafting need no socket
    except ImportError as missing:
        raise ImportError("Live updates require websocket-client: pip install 'countersign-client[live]'.") from missing
    try:
        socket = websocket.create_connection(
            url,
            header=[f"Authorization: {authorization}"],
            suppress_origin=True,
            redirect_limit=0,  # the token goes to the desk alone
            timeout=silence_s,
        )
    except websocket.WebSocketBadStatusException as refusal:
        raise _refusal(refusal.status_code, refusal.resp_headers or {}) from None
    except (websocket.WebSocketException, OSError) as loss:
        raise Lost(f"Connection failed: {type(loss).__name__}.") from loss
    try:
        socket.send(json.dumps({"follow": list(topics)}))
        is_first = True
        while True:
            opcode, content = socket.recv_data(control_frame=True)  # the desk pings, so silence means that it is gone
            if opcode == websocket.ABNF.OPCODE_CLOSE:
                raise _closed(content)
            if opcode == websocket.ABNF.OPCODE_TEXT:
                yield from _read(content, topics, is_first=is_first)
                is_first = False
    except (websocket.WebSocketException, OSError) as loss:
        raise Lost(f"Connection lost: {type(loss).__name__}.") from loss
    finally:
        socket.close(timeout=1)


def _read(content: bytes, topics: Sequence[str], *, is_first: bool) -> Iterator[Update]:
    try:
        message = json.loads(content)
        for each in message if isinstance(message, list) else [message]:
            if "followed" in each:
                if each["refused"]:
                    sentence = f"These topics can't be followed with this token: {', '.join(each['refused'])}."
                    raise problems.NotAllowed(403, _TITLES[403], sentence, {})
                if is_first:
                    yield from (Update(topic, {}) for topic in topics)
            else:
                yield Update(each["topic"], each.get("hint") or {}, each.get("tick"))
    except (ValueError, TypeError, KeyError) as odd:
        raise problems.Unreadable(
            "The socket sent something other than a desk's frames.", idempotency_key=None
        ) from odd


def _refusal(status: int, headers: Mapping[str, str]) -> Exception:
    if status in _TITLES:
        sentence = "The token is invalid, expired or revoked." if status == 401 else "The desk rejected the connection."
        return problems.of(status, {"title": _TITLES[status], "detail": sentence}, idempotency_key=None)
    if status in {429, 502, 503, 504}:
        return Lost(f"Connection failed: status {status}.", headers.get("retry-after"))
    return problems.Unreadable(f"The response with status {status} did not come from a desk.", idempotency_key=None)


def _closed(content: bytes) -> Exception:
    code = int.from_bytes(content[:2], "big")
    if code == _NOT_UNDERSTOOD:
        return problems.Unreadable("The desk does not support this protocol.", idempotency_key=None)
    return Lost(f"The desk closed the socket with code {code}.")


def again(
    begin: Callable[[], Iterator[Update]], *, attempts: int, pause: Callable[[int, str | None], float]
) -> Iterator[Update]:
    """Socket after socket, until `attempts` in a row said nothing. Raises what `updates` does, and then `NoAnswer`."""
    failures = 0
    while True:
        try:
            for update in begin():
                failures = 0
                yield update
        except Lost as loss:
            failures += 1
            if failures >= attempts:
                raise problems.NoAnswer(str(loss), idempotency_key=None) from loss
            time.sleep(pause(failures, loss.pause_s))
