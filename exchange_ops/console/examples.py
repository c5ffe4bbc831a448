"""The same request for a shell and for a program, with environment variables in place of secrets."""

import json
import shlex
from collections.abc import Mapping
from typing import Final

from django.conf import settings

from exchange_ops.console.entries import CHAIN, STREAMS, Entry
from exchange_ops.console.forms import operation_of
from exchange_ops.shared import places
from exchange_ops.wire import streams
from wire import operation
from wire.operation import Request
from wire.params import BadArgument, Kind, Param, Place

_CREDENTIALS: Final = "$EXCHANGE_KEY:$EXCHANGE_SECRET"


def snippets(entry: Entry, arguments: Mapping[str, object], *, place: places.Place) -> dict[str, str]:
    """How to send this from a shell and from Python, by the name of the language.

    A required argument that is missing is written in capitals, to be filled in.
    """
    if entry.service == STREAMS:
        return _socket(entry, arguments, place)
    try:
        request = operation.bind(operation_of(entry), arguments)
    except BadArgument:
        return {"curl": _outline(entry, place)}
    return {"curl": _curl(entry, request, place), "Python": _python(entry, request, place)}


def _base(entry: Entry, place: places.Place) -> str:
    return str(settings.CHAINDATA_URL if entry.service == CHAIN else place.url).rstrip("/")


def _curl(entry: Entry, request: Request, place: places.Place) -> str:
    parts = ["curl", "--silent", "--show-error"]
    parts += ["--request", request.method] if request.method != "GET" else []
    text = shlex.join(parts)
    text += f' --user "{_CREDENTIALS}"' if entry.needs_key else ""
    if request.form or request.members:
        text += f" --header {shlex.quote('Content-Type: ' + request.content_type)}"
        text += f" --data {shlex.quote(request.body.decode())}"
    return f"{text} {shlex.quote(_base(entry, place) + request.target)}"


def _python(entry: Entry, request: Request, place: places.Place) -> str:
    lines = ["import requests"]
    if entry.needs_key:
        lines.insert(0, "import os")
    lines += ["", f"reply = requests.{request.method.lower()}(", f"    {_base(entry, place) + request.path!r},"]
    lines += [f"    params={dict(request.query)!r},"] if request.query else []
    if request.members:
        lines.append(f"    data={request.body.decode()!r},")
        lines.append(f'    headers={{"Content-Type": {request.content_type!r}}},')
    elif request.form:
        lines.append(f"    data={dict(request.form)!r},")
    lines += ['    auth=(os.environ["EXCHANGE_KEY"], os.environ["EXCHANGE_SECRET"]),'] if entry.needs_key else []
    return "\n".join([*lines, "    timeout=15,", ")", "print(reply.status_code, reply.text)"])


def _outline(entry: Entry, place: places.Place) -> str:
    """The shape of a request whose required arguments are not typed yet."""
    path = entry.place
    for param in entry.params:
        if param.place is Place.PATH:
            path = path.replace("{" + param.name + "}", param.name.upper())
    query = "&".join(f"{param.name}={param.name.upper()}" for param in _required(entry, Place.QUERY))
    text = "curl --silent --show-error" + (f" --request {entry.sign}" if entry.sign != "GET" else "")
    text += f' --user "{_CREDENTIALS}"' if entry.needs_key else ""
    for param in _required(entry, Place.FORM):
        text += f" --data {shlex.quote(f'{param.name}={param.name.upper()}')}"
    return f"{text} {shlex.quote(_base(entry, place) + path + (f'?{query}' if query else ''))}"


def _required(entry: Entry, place: Place) -> list[Param]:
    return [param for param in entry.params if param.required and param.place is place]


def _socket(entry: Entry, arguments: Mapping[str, object], place: places.Place) -> dict[str, str]:
    try:
        params = streams.bind(streams.by_name[entry.name], arguments)
    except BadArgument:
        params = {param.name: param.name.upper() for param in entry.params if param.required}
    texts = {name: _member(entry, name, value) for name, value in params.items()}
    frame = json.dumps({"method": entry.name, "params": texts, "id": 1})
    address = place.stream_url.rstrip("/") + entry.place
    lines = ["import websocket", "", f"socket = websocket.create_connection({address!r}, timeout=10)"]
    if entry.needs_key:
        login = '{"method": "login", "params": {"algo": "BASIC", "pKey": key, "sKey": secret}, "id": 0}'
        lines = ["import json", "import os", "", *lines]
        lines += ['key, secret = os.environ["EXCHANGE_KEY"], os.environ["EXCHANGE_SECRET"]']
        lines += [f"socket.send(json.dumps({login}))", "print(socket.recv())"]
    lines += [f"socket.send({frame!r})", "print(socket.recv())"]
    return {"Message": frame, "Python": "\n".join(lines)}


def _member(entry: Entry, name: str, value: object) -> object:
    """A parameter as JSON carries it: times and decimals are texts."""
    param = next(param for param in entry.params if param.name == name)
    from wire.params import to_text  # late: nothing else here writes the wire's texts

    plain = isinstance(value, bool | int) and param.kind in (Kind.BOOLEAN, Kind.INTEGER, Kind.INSTANT_OR_INDEX)
    return value if plain or isinstance(value, str) else to_text(param, value)
