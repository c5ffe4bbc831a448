"""Faults a tester arms through the control plane: which call fails next, how, and how often.

A fault belongs to an operation (one of either service by its catalogue name, a socket method or notification by its
wire name; `*` is every one of the exchange, `chain/*` every one of the chain-data service) and serves `times` calls,
oldest fault first. Faults are kept in memory only: they end with the process
and with a reset. What each kind means is in `fault_kinds.KINDS`, from which the documentation page is written too;
what one makes of a call, what is executed and what the client gets instead of the answer, is below (`inject`, `echo`).
"""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import count
from typing import Any, Protocol

from sandbox.server import answers
from sandbox.server.answers import Answer, Cut, Delivery, Ended
from sandbox.server.faults.fault_kinds import DEFAULT_STATUS, KINDS, RECORD_OPERATIONS, Kind, Member, Scope

EVERY = "*"
EVERY_CHAIN = "chain/*"
MOST_TIMES = 1_000_000
MOST_ARMED = 1_000
PROXY_PAGE = (
    "<!DOCTYPE html>\n<html><head><title>Please wait</title></head>"
    "<body><h1>Please wait</h1><p>A proxy in front of the exchange answers.</p></body></html>\n"
)
Execute = Callable[[], Answer]
Later = Callable[[Coroutine[Any, Any, None]], None]


class CannotArm(ValueError):
    """The fault asked for makes no sense; the text says which member is odd and what it takes."""


@dataclass(slots=True)
class Fault:
    """One armed fault. `times` counts down to zero; `members` holds what the kind takes beyond the common members."""

    number: int
    operation: str
    kind: str
    times: int
    key: str | None = None
    members: Mapping[str, object] = field(default_factory=dict)
    served: int = 0

    def text(self, name: str) -> str:
        """The member as text; "" when it was not given."""
        value = self.members.get(name)
        return value if isinstance(value, str) else ""

    def whole_number(self, name: str, default: int = 0) -> int:
        """The member as a whole number; `default` when it was not given."""
        value = self.members.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else default

    def on(self, name: str) -> bool:
        """Whether the yes-or-no member is on."""
        return self.members.get(name) is True

    def as_json(self) -> dict[str, object]:
        """The fault as the control plane lists it."""
        listed: dict[str, object] = {
            "number": self.number,
            "operation": self.operation,
            "kind": self.kind,
            "times": self.times,
            "served": self.served,
        }
        if self.key is not None:
            listed["key"] = self.key
        return listed | dict(self.members)


class Faults:
    """The armed faults of one sandbox.

    `operations` are the exchange's REST operations, `chain` those of the chain-data service, `methods` the socket
    methods, `notifications` the socket notifications; `knows_code` tells whether an error code is in the catalogue of
    the exchange.
    """

    def __init__(
        self,
        *,
        operations: Collection[str] = (),
        chain: Collection[str] = (),
        methods: Collection[str] = (),
        notifications: Collection[str] = (),
        knows_code: Callable[[int], bool] = lambda code: True,
    ) -> None:
        self._scopes = {
            Scope.REST: frozenset(operations),
            Scope.CHAIN: frozenset(chain),
            Scope.METHOD: frozenset(methods),
            Scope.NOTIFICATION: frozenset(notifications),
        }
        self._knows_code = knows_code
        self._numbers = count(1)
        self._armed: list[Fault] = []

    def arm(self, request: Mapping[str, object]) -> Fault:
        """Arms the fault described by `asked` (the JSON object of the control plane); raises CannotArm."""
        if len(self._armed) >= MOST_ARMED:
            raise CannotArm(f"{MOST_ARMED} faults are armed already; DELETE /_sandbox/faults clears them.")
        kind = KINDS.get(_text(request, "kind"))
        if kind is None:
            raise CannotArm(f"'kind' is {request.get('kind')!r}; it takes one of {', '.join(KINDS)}.")
        operation = self._operation(request, kind)
        fault = Fault(
            number=next(self._numbers),
            operation=operation,
            kind=kind.name,
            times=_whole_number("times", request.get("times", 1), lowest=1, highest=MOST_TIMES),
            key=_text(request, "key") if request.get("key") is not None else None,
            members=self._members(request, kind),
        )
        self._armed.append(fault)
        return fault

    def claim(self, operation: str, *, key: str | None, kinds: Collection[str], scope: Scope) -> Fault | None:
        """The oldest armed fault of `kinds` for this call, counted as served; None when the call goes through."""
        for fault in self.matching(operation, key=key, kinds=kinds, scope=scope):
            self.serve(fault)
            return fault
        return None

    def matching(self, operation: str, *, key: str | None, kinds: Collection[str], scope: Scope) -> Iterator[Fault]:
        """The armed faults of `kinds` that concern this call, oldest first, not yet counted as served."""
        for fault in list(self._armed):
            if fault.kind not in kinds or (fault.key is not None and fault.key != key):
                continue
            if fault.operation == operation or _is_meant(fault, operation, scope):
                yield fault

    def serve(self, fault: Fault) -> None:
        """Counts one call as served by the fault; a fault that served its times is taken down."""
        fault.served += 1
        fault.times -= 1
        if fault.times <= 0 and fault in self._armed:
            self._armed.remove(fault)

    def listed(self) -> list[dict[str, object]]:
        """The armed faults, oldest first."""
        return [fault.as_json() for fault in self._armed]

    def clear(self) -> int:
        """Takes every fault down; returns how many there were."""
        cleared = len(self._armed)
        self._armed.clear()
        return cleared

    def _operation(self, request: Mapping[str, object], kind: Kind) -> str:
        operation = _text(request, "operation")
        if operation in (EVERY, EVERY_CHAIN):
            return operation
        scopes = [scope for scope, names in self._scopes.items() if operation in names]
        if not scopes:
            raise CannotArm(
                f"'operation' is {operation!r}; the page at / lists the names; * means every one of "
                f"the exchange, {EVERY_CHAIN} every one of the chain-data service."
            )
        if not any(scope in kind.scopes for scope in scopes):
            meant = " or ".join(scope.value for scope in Scope if scope in kind.scopes)
            raise CannotArm(f"The kind {kind.name!r} is for a {meant}, and {operation!r} is a {scopes[0].value}.")
        return operation

    def _is_chain(self, request: Mapping[str, object]) -> bool:
        operation = request.get("operation")
        return operation == EVERY_CHAIN or operation in self._scopes[Scope.CHAIN]

    def _members(self, request: Mapping[str, object], kind: Kind) -> dict[str, object]:
        unknown = sorted(
            set(request) - {"operation", "kind", "times", "key"} - {member.name for member in kind.members}
        )
        if unknown:
            takes = ", ".join(["operation", "times", "key", *(member.name for member in kind.members)])
            raise CannotArm(f"The kind {kind.name!r} does not take {unknown[0]!r}; it takes {takes}.")
        members: dict[str, object] = {}
        for member in kind.members:
            if member.name in request:
                members[member.name] = _checked(member, request[member.name])
            elif member.required:
                raise CannotArm(f"The kind {kind.name!r} needs {member.name!r}: {member.meaning}.")
            elif member.default is not None:
                members[member.name] = member.default
        code = members.get("code")
        if kind.name == "refuse" and self._is_chain(request) and not 400 <= _whole_number("code", code) <= 599:
            raise CannotArm(f"'code' is {code!r}; the chain-data service refuses with an HTTP status from 400 to 599.")
        if kind.name == "refuse" and not self._is_chain(request) and not self._knows_code(_whole_number("code", code)):
            raise CannotArm(f"'code' is {members['code']!r}; the exchange's catalogue has no such code.")
        if kind.name == "echo_differs" and "value" not in members and members.get("absent") is not True:
            raise CannotArm("The kind 'echo_differs' needs 'value', or 'absent': true to leave the field out.")
        return members


def _is_meant(fault: Fault, operation: str, scope: Scope) -> bool:
    """Whether `*` reaches this call of the exchange: notifications for socket kinds, records of transactions for
    echo_differs. `chain/*` reaches every call of the chain-data service, and `*` none of them."""
    kind = KINDS[fault.kind]
    if fault.operation not in (EVERY, EVERY_CHAIN) or (fault.operation == EVERY_CHAIN) is not (scope is Scope.CHAIN):
        return False
    if scope is Scope.CHAIN:
        return True
    if fault.kind == "echo_differs":
        return operation in RECORD_OPERATIONS
    if scope is Scope.METHOD:
        return False
    return scope in kind.scopes


def _text(request: Mapping[str, object], name: str) -> str:
    value = request.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    raise CannotArm(f"{name!r} is {value!r}; it takes a text.")


def _whole_number(name: str, value: object, *, lowest: int = 0, highest: int = 10**9) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
        raise CannotArm(f"{name!r} is {value!r}; it takes a whole number from {lowest} to {highest}.")
    return value


def _checked(member: Member, value: object) -> object:
    if member.takes is int:
        _whole_number(member.name, value, lowest=member.lowest, highest=member.highest)
    if member.takes is bool and not isinstance(value, bool):
        raise CannotArm(f"{member.name!r} is {value!r}; it takes true or false.")
    if member.takes is str and not isinstance(value, str):
        raise CannotArm(f"{member.name!r} is {value!r}; it takes a text.")
    if member.name == "location" and not (str(value).isascii() and str(value).isprintable()):
        raise CannotArm(f"{member.name!r} is {value!r}; it takes an address, in printable ASCII.")
    if member.choices and value not in member.choices:
        raise CannotArm(f"{member.name!r} is {value!r}; it takes one of {', '.join(map(str, member.choices))}.")
    return value


def status_of(fault: Fault) -> int:
    """The HTTP status the fault answers with."""
    return fault.whole_number("status", DEFAULT_STATUS.get(fault.kind, HTTPStatus.INTERNAL_SERVER_ERROR))


# What becomes of a call -----------------------------------------------------------------------------------------------


class Speech(Protocol):
    """How a service says what a fault makes it say."""

    def refuse(self, fault: Fault) -> Answer:
        """The error that the fault names."""
        ...

    def of_status(self, status: int) -> Answer:
        """An error of that HTTP status."""
        ...

    def rate_limit(self) -> Answer:
        """Too many requests."""
        ...


async def inject(fault: Fault, execute: Execute, *, target: str, later: Later, speech: Speech) -> Delivery:
    """The delivery under the fault. `later` keeps work that goes on after the answer."""
    match fault.kind:
        case "refuse":
            return speech.refuse(fault)
        case "rate_limit":
            return speech.rate_limit()
        case "drop_before" | "drop_after":
            if fault.kind == "drop_after":
                execute()
            return Ended(fault.text("how"))
        case "delay_then_execute":
            return await _delayed(fault, execute, later, speech)
        case "cut_body":
            answer = execute() if fault.on("executes") else answers.of_json({"id": "half of this is missing"})
            return Cut(answer, fault.text("framing"))
    if fault.on("executes"):
        execute()
    return _instead(fault, target, speech)


def _instead(fault: Fault, target: str, speech: Speech) -> Answer:
    status = status_of(fault)
    if fault.kind == "html":
        return answers.of_html(PROXY_PAGE, status)
    if fault.kind == "redirect":
        location = fault.text("location") or target
        return Answer(status, b"", answers.HTML, (("location", location),), logged=f"redirect to {location}")
    return speech.of_status(status)


async def _delayed(fault: Fault, execute: Execute, later: Later, speech: Speech) -> Delivery:
    async def execute_late() -> None:
        await asyncio.sleep(fault.whole_number("ms") / 1000)
        execute()

    if fault.whole_number("status"):
        later(execute_late())
        return speech.of_status(fault.whole_number("status"))
    await asyncio.sleep(fault.whole_number("ms") / 1000)
    return execute()


def echo(faults: Faults, operation: str, *, key: str | None, scope: Scope, value: object) -> object:
    """The records of an answer with the fields changed that faults of the kind echo_differs name."""
    for fault in faults.matching(operation, key=key, kinds=("echo_differs",), scope=scope):
        name = fault.text("field")
        changes = {} if fault.on("absent") else {name: fault.members.get("value")}
        absent = frozenset({name}) if fault.on("absent") else frozenset[str]()
        changed = answers.with_field(value, changes, absent, fault.text("id"))
        if changed != value:
            faults.serve(fault)
            value = changed
    return value
