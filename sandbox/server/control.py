"""The control plane under `/_sandbox/`: what a tester or a demonstration does to the world from outside.

JSON in and out. It knows no credentials: it is for the loopback address, and `--sealed` leaves it out.
"""

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from http import HTTPStatus
from urllib.parse import unquote

from sandbox.exchange.terms import Refusal
from sandbox.server import answers, error_responses, requests
from sandbox.server.answers import Answer
from sandbox.server.calls import Calls
from sandbox.server.faults.faults import Faults
from sandbox.server.requests import Received
from sandbox.world.world import World

PREFIX = "/_sandbox/"
Members = dict[str, object]
_WITHDRAWAL = ("currency", "amount", "address", "paymentId", "includeFee", "autoCommit", "publicComment", "account")
# What the world itself does, with the members each takes; the names are those of `World.control`. The configuration
# and a reset check their own.
WORLD_CONTROLS: dict[str, tuple[str, ...]] = {
    "clock": ("advance_ms", "frozen"),
    "config": (),
    "deposit": ("currency", "amount", "address", "paymentId", "account", "sender"),
    "foreign-withdrawal": _WITHDRAWAL,
    "payouts": ("status", "errorCode", "id"),
    "chain/mine": ("blocks",),
    "chain/reorg": ("depth",),
    "chain/pay": ("address", "amount"),
}


class CannotControl(ValueError):
    """The control call makes no sense; the text says what it takes."""


class Control:
    """The control plane of one world."""

    def __init__(self, world: World, faults: Faults, calls: Calls) -> None:
        self._world = world
        self._faults = faults
        self._calls = calls
        self._table: dict[str, dict[str, Callable[[Received], object]]] = {
            "state": {"GET": self._state},
            "reset": {"POST": self._reset},
            "faults": {"GET": self._listed_faults, "POST": self._arm, "DELETE": self._clear_faults},
            "calls": {"GET": self._listed_calls},
            "ledger": {"GET": lambda received: self._world.ledger()},
        }
        for name in WORLD_CONTROLS:
            if name != "payouts":
                self._table[name] = {"POST": self._of_world(name)}

    def answer(self, received: Received) -> Answer:
        """The answer to one control call: 400 with a sentence for odd input, 404 and 405 for odd addresses."""
        name = unquote(received.path.removeprefix(PREFIX)).strip("/")
        verbs = self._verbs(name)
        if verbs is None:
            return _error(
                HTTPStatus.NOT_FOUND, f"There is no {PREFIX}{name[:100]}; there are {', '.join(self.names())}."
            )
        act = verbs.get("GET" if received.method == "HEAD" else received.method)
        if act is None:
            return _error(HTTPStatus.METHOD_NOT_ALLOWED, f"{PREFIX}{name} takes {' or '.join(verbs)}.")
        try:
            return answers.of_json(act(received))
        except Refusal as refusal:
            return _error(HTTPStatus.BAD_REQUEST, error_responses.sentence(refusal))
        except ValueError as problem:
            return _error(HTTPStatus.BAD_REQUEST, str(problem))

    def names(self) -> list[str]:
        """The control calls there are."""
        return [*self._table, "payouts/{id}"]

    def _verbs(self, name: str) -> Mapping[str, Callable[[Received], object]] | None:
        head, _, rest = name.partition("/")
        if head == "payouts" and rest and "/" not in rest:
            return {"POST": lambda received: self._changed("payouts", members_of(received) | {"id": rest})}
        return self._table.get(name)

    def _of_world(self, name: str) -> Callable[[Received], object]:
        return lambda received: self._changed(name, _with_switches(name, members_of(received)))

    def _changed(self, name: str, arguments: Members) -> object:
        takes = WORLD_CONTROLS.get(name)
        odd = sorted(set(arguments) - set(takes)) if takes else []
        if takes and odd:
            raise CannotControl(f"{PREFIX}{name} does not take {odd[0][:100]!r}; it takes {', '.join(takes)}.")
        result = self._world.control(name, arguments)
        return {"result": True} if result is None else result

    def _state(self, received: Received) -> object:
        return {**self._world.state(), "faults": len(self._faults.listed())}

    def _reset(self, received: Received) -> object:
        """A fresh world: the faults and the log of calls end with the old one."""
        result = self._changed("reset", members_of(received))
        self._faults.clear()
        self._calls.clear()
        return result

    def _arm(self, received: Received) -> object:
        return self._faults.arm(members_of(received)).as_json()

    def _listed_faults(self, received: Received) -> object:
        return {"faults": self._faults.listed()}

    def _clear_faults(self, received: Received) -> object:
        return {"cleared": self._faults.clear()}

    def _listed_calls(self, received: Received) -> object:
        query = dict(requests.query_pairs(received.query))
        odd = sorted(set(query) - {"operation", "since"})
        if odd:
            raise CannotControl(f"{PREFIX}calls does not take {odd[0][:100]!r}; it takes operation and since.")
        return self._calls.listed(operation=query.get("operation", ""), since=query.get("since", ""))


def members_of(received: Received) -> Members:
    """The JSON object of a control call, numbers exact; an empty body is an empty object. Raises CannotControl."""
    if not received.body.strip():
        return {}
    try:
        members = json.loads(received.body.decode("utf-8"), parse_float=Decimal, parse_constant=_no_number)
    except (ValueError, RecursionError, ArithmeticError):
        raise CannotControl("The body is not valid JSON.") from None
    if not isinstance(members, dict):
        raise CannotControl('The body is not a JSON object such as {"advance_ms": 60000}.')
    return members


def _with_switches(name: str, arguments: Members) -> Members:
    """A null in the configuration switches off, as it is shown; elsewhere it is an absent member."""
    if name != "config":
        return arguments
    return {member: False if value is None else value for member, value in arguments.items()}


def _no_number(written: str) -> object:
    raise ValueError(f"{written} is no number of JSON.")


def _error(status: HTTPStatus, sentence: str) -> Answer:
    return answers.of_error(status, int(status), status.phrase, sentence)
