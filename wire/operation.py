"""One documented operation: how its arguments become a request, and a request its arguments again.

For every operation `read(bind(arguments))` gives the arguments back.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from urllib.parse import quote, urlencode

import msgspec

from wire.params import MASK, BadArgument, Kind, Param, Place, Problem, from_text, to_member, to_text, wrong

__all__ = ["MASK", "BadArgument", "Body", "Kind", "Operation", "Param", "Place", "Problem", "Request", "bind", "read"]

_OTHERS_IN_QUERY = frozenset({"GET", "PUT", "PATCH", "DELETE"})


class Body(Enum):
    """How the FORM parameters are written: pairs, members of a JSON object, or one of them as the whole JSON array."""

    FORM = "application/x-www-form-urlencoded"
    OBJECT = "application/json"
    ARRAY = "application/json; array"


@dataclass(frozen=True, slots=True)
class Operation:
    """One documented row: facts only. `path` is complete, with its parameters in braces.

    `right` is the access right the key needs; None with `public` false means any valid key. `result` is the type of
    the reply's record. `repeatable` says that sending it twice is documented to be the same as sending it once.
    `is_read` says that a call changes nothing; None: whatever is asked by GET does not. A server also takes
    `other_methods` and `other_paths`; a client never uses them.
    """

    name: str
    method: str
    path: str
    params: tuple[Param, ...] = ()
    right: Enum | None = None
    result: object = None
    repeatable: bool = False
    public: bool = False
    group: str = ""
    note: str = ""
    body: Body = Body.FORM
    is_read: bool | None = None
    other_methods: tuple[str, ...] = ()
    other_paths: tuple[str, ...] = ()

    @property
    def reads(self) -> bool:
        """Whether a call only asks."""
        return self.method == "GET" if self.is_read is None else self.is_read

    @property
    def every_path(self) -> tuple[str, ...]:
        """The paths that a server routes here: `path`, then without its optional last part, then the other names."""
        shorter = tuple(
            self.path.removesuffix("/{" + param.name + "}")
            for param in self.params
            if param.place is Place.PATH and not param.required
        )
        return (self.path, *shorter, *self.other_paths)

    def param(self, name: str) -> Param | None:
        """The parameter of that name."""
        return next((param for param in self.params if param.name == name), None)


@dataclass(frozen=True, slots=True, repr=False)
class Request:
    """What goes on the wire: an encoded path, and the pairs of the query and of the form before their encoding.

    `members` stand for the form where the body is JSON.
    `hidden` are the texts of the sensitive parameters: an answer that repeats them is not quoted with them.
    """

    operation: Operation
    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    form: tuple[tuple[str, str], ...] = ()
    hidden: tuple[str, ...] = ()
    members: tuple[tuple[str, object], ...] = ()

    @property
    def target(self) -> str:
        """Path and query exactly as sent and signed."""
        if not self.query:
            return self.path
        return f"{self.path}?{urlencode(self.query, quote_via=quote, safe=',:')}"

    @property
    def body(self) -> bytes:
        """The form, or the JSON of the members, exactly as sent and signed; empty when there is none."""
        if not self.members:
            return urlencode(self.form).encode("ascii")
        content = self.members[0][1] if self.operation.body is Body.ARRAY else dict(self.members)
        return msgspec.json.encode(content)

    @property
    def content_type(self) -> str:
        """The media type of `body`."""
        return self.operation.body.value.partition(";")[0]

    def __repr__(self) -> str:
        """Names every parameter, masks the sensitive ones."""
        query, form = (
            [(name, MASK if _is_sensitive(self.operation, name) else text) for name, text in pairs]
            for pairs in (self.query, self.form or self.members)
        )
        hidden = any(param.sensitive and param.place is Place.PATH for param in self.operation.params)
        path = self.operation.path if hidden else self.path
        return f"Request({self.operation.name}: {self.method} {path} query={query} form={form})"


def _is_sensitive(operation: Operation, name: str) -> bool:
    param = operation.param(name)
    return param is None or param.sensitive


# The client's side ---------------------------------------------------------------------------------------------------


def bind(operation: Operation, arguments: Mapping[str, object]) -> Request:
    """The request that carries the arguments, in the order of the documented parameters.

    None means absent; nothing is filled in, an omitted parameter is not sent. Raises `BadArgument`.
    """
    names = {param.name for param in operation.params}
    for name in arguments:
        if name not in names:
            raise BadArgument(name, Problem.UNKNOWN)
    path = operation.path
    hidden: list[str] = []
    pairs: dict[Place, list[tuple[str, str]]] = {Place.QUERY: [], Place.FORM: []}
    members: list[tuple[str, object]] = []
    for param in operation.params:
        value = arguments.get(param.name)
        if value is None:
            if param.required:
                raise BadArgument(param.name, Problem.MISSING)
            if param.place is Place.PATH:
                path = path.replace("/{" + param.name + "}", "")
            continue
        if param.place is Place.FORM and operation.body is not Body.FORM:
            members.append((param.name, to_member(param, value)))
            hidden += [str(value)] if param.sensitive else []
            continue
        text = to_text(param, value)
        hidden += [text, quote(text, safe="")] if param.sensitive else []
        if param.place is Place.PATH:
            path = path.replace("{" + param.name + "}", _segment(param, text))
        else:
            pairs[param.place].append((param.name, text))
    query, form = tuple(pairs[Place.QUERY]), tuple(pairs[Place.FORM])
    return Request(operation, operation.method, path, query, form, tuple(hidden), tuple(members))


def _segment(param: Param, text: str) -> str:
    # Dots alone would be taken for a step up the path by every client and proxy, even percent-encoded.
    if text.strip(".") == "":
        raise wrong(param, Problem.MALFORMED, text, "a path segment can't consist of dots only")
    return quote(text, safe="")


# The server's side ---------------------------------------------------------------------------------------------------


def read(
    operation: Operation,
    path_values: Mapping[str, str],
    query_pairs: Iterable[tuple[str, str]] = (),
    body_pairs: Iterable[tuple[str, object]] = (),
    *,
    defaults: bool = True,
) -> dict[str, object]:
    """The arguments of a received request, typed by their kinds; unknown parameters are ignored.

    `path_values` are decoded path segments. `body_pairs` come from a form (texts) or from the members of a JSON object
    (decoded with exact decimals: a binary float is refused). PUT, PATCH and DELETE may carry their form in the query.
    An empty or null value is an absent one. An absent parameter takes its documented default, or with
    `defaults=False` stays absent, which makes this the exact inverse of `bind`. Raises `BadArgument`.
    """
    sent: dict[str, object] = dict(query_pairs) if operation.method in _OTHERS_IN_QUERY else {}
    sent.update(body_pairs if operation.method != "GET" else ())
    sent.update(path_values)
    arguments: dict[str, object] = {}
    for param in operation.params:
        value = _first_given(param, sent)
        if value is None or value == "" or (value == [] and operation.body is Body.FORM):
            if param.required:
                raise BadArgument(param.name, Problem.MISSING)
            if defaults and param.default is not None:
                arguments[param.name] = param.default
            continue
        arguments[param.name] = from_text(param, value)
    return arguments


def _first_given(param: Param, arguments: Mapping[str, object]) -> object:
    names = (param.name, *param.other_names)
    return next((arguments[name] for name in names if arguments.get(name) is not None), None)
