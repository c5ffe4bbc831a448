"""What an armed fault makes of one REST call: what is executed, and what the client gets instead of the answer."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from sandbox.server import answers
from sandbox.server.answers import Answer
from sandbox.server.asgi_io import Cut, Delivery, Ended
from sandbox.server.faults.fault_kinds import Scope
from sandbox.server.faults.faults import Fault, Faults, status_of

PROXY_PAGE = (
    "<!DOCTYPE html>\n<html><head><title>Please wait</title></head>"
    "<body><h1>Please wait</h1><p>A proxy in front of the exchange answers.</p></body></html>\n"
)
Execute = Callable[[], Answer]
Later = Callable[[Coroutine[Any, Any, None]], None]


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
        await asyncio.sleep(fault.whole("ms") / 1000)
        execute()

    if fault.whole("status"):
        later(execute_late())
        return speech.of_status(fault.whole("status"))
    await asyncio.sleep(fault.whole("ms") / 1000)
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
