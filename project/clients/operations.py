"""The operations of a description of an interface as methods of Python, over `countersign_client.transport`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from project.clients.shapes import CannotGenerate, Schema, annotation, docstring

_JSON: Final = "application/json"
LINE: Final = 120
_KEY: Final = "Idempotency-Key"
_HEAD: Final = '''"""Every operation of the desk's interface. Written by `manage.py client_package`: don't edit it."""

from collections.abc import Iterator

from countersign_client import shapes
from countersign_client.transport import Transport


class Operations(Transport):
    """One method for each operation, by its name in the description; what is refused raises a `Problem`."""
'''


@dataclass(frozen=True)
class Operation:
    """One method at one address."""

    method: str
    path: str
    facts: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The method's name."""
        return str(self.facts["operationId"])

    @property
    def in_path(self) -> list[str]:
        """The parameters in the path, in their order there."""
        return re.findall(r"{(\w+)}", self.path)

    def parameters(self, place: str) -> list[Mapping[str, Any]]:
        """Those in this place: path, query or header."""
        return [one for one in self.facts.get("parameters", ()) if one["in"] == place]

    @property
    def body(self) -> str:
        """The type of the body; empty without one."""
        content = self.facts.get("requestBody", {}).get("content", {})
        return _named(content[_JSON]["schema"]) if content else ""

    @property
    def answer(self) -> str:
        """The type of the answer, the same for every success. Raises `CannotGenerate`."""
        types = {
            _named(answer["content"][_JSON]["schema"])
            for status, answer in self.facts["responses"].items()
            if status.startswith("2")
        }
        if len(types) != 1:
            raise CannotGenerate(f"{self.name} answers {sorted(types) or 'nothing'}.")
        return types.pop()


def module(paths: Mapping[str, Mapping[str, Any]], schemas: Mapping[str, Schema]) -> str:
    """The module with a method for each operation, and one more for each list in pages, that reads all of them."""
    lines = [_HEAD]
    for path, methods in sorted(paths.items()):
        for method, facts in sorted(methods.items()):
            operation = Operation(method.upper(), path, facts)
            if operation.name == "schema_retrieve":
                continue
            lines += _method(operation)
            if row := _row_of_page(operation, schemas):
                lines += _walk(operation, row)
    return "\n".join(lines).rstrip() + "\n"


def _row_of_page(operation: Operation, schemas: Mapping[str, Schema]) -> str:
    """The type of the rows where the answer is a page with an address of the next one; else empty."""
    members = schemas[operation.answer.removeprefix("shapes.")]["properties"]
    return _named(members["items"]["items"]) if {"items", "older"} <= set(members) else ""


def _method(operation: Operation) -> Iterator[str]:
    yield from _signature(operation.name, operation, operation.answer)
    yield from docstring(operation.facts["description"], "        ")
    query = [one["name"] for one in operation.parameters("query")]
    arguments = [f'"{operation.method}"', _address(operation)]
    if query:
        yield "        query = {"
        yield from (f'            "{name}": {name},' for name in query)
        yield "        }"
        arguments.append("query=query")
    if operation.body:
        arguments.append("body=body")
    if _is_keyed(operation):
        arguments.append("idempotency_key=idempotency_key")
    call = f"        answer: {operation.answer} = self.ask({', '.join(arguments)})"
    if len(call) <= LINE:
        yield call
    else:
        yield f"        answer: {operation.answer} = self.ask("
        yield f"            {', '.join(arguments)}"
        yield "        )"
    yield "        return answer"
    yield ""


def _walk(operation: Operation, row: str) -> Iterator[str]:
    name = f"{operation.name.removesuffix('_list')}_all"
    yield from _signature(name, operation, f"Iterator[{row}]")
    yield f'        """Every row of `{operation.name}`, page after page as they are needed."""'
    names = [*operation.in_path, *(f"{one['name']}={one['name']}" for one in operation.parameters("query"))]
    yield f"        page = self.{operation.name}("
    yield from (f"            {name}," for name in names)
    yield "        )"
    yield "        while True:"
    yield '            yield from page["items"]'
    yield '            if (older := page["older"]) is None:'
    yield "                return"
    yield '            page = self.ask("GET", older)'
    yield ""


def _signature(name: str, operation: Operation, answer: str) -> Iterator[str]:
    query = operation.parameters("query")
    yield f"    def {name}("
    yield "        self,"
    kinds = {one["name"]: _kind(one["schema"]) for one in operation.parameters("path")}
    yield from (f"        {one}: {kinds[one]}," for one in operation.in_path)
    if operation.body:
        yield f"        body: {operation.body},"
    if query or _is_keyed(operation):
        yield "        *,"
    for one in sorted(query, key=lambda one: not one.get("required")):
        kind = _kind(one["schema"])
        yield f"        {one['name']}: {kind}{'' if one.get('required') else ' | None = None'},"
    if _is_keyed(operation):
        yield "        idempotency_key: str | None = None,"
    yield f"    ) -> {answer}:"


def _is_keyed(operation: Operation) -> bool:
    return any(one["name"] == _KEY and "schema" in one for one in operation.parameters("header"))


def _address(operation: Operation) -> str:
    if not operation.in_path:
        return f'"{operation.path}"'
    parts = re.sub(r"{(\w+)}", r"{self.part(\1)}", operation.path)
    return f'f"{parts}"'


def _named(schema: Schema) -> str:
    type_name = annotation(schema)
    return f"shapes.{type_name}" if "$ref" in schema else type_name


def _kind(schema: Schema) -> str:
    return "str" if "enum" in schema else annotation(schema)
