"""Which contract test asks which operation: calls with literal methods and addresses, found in the tests' own text.

A contract test uses neither the catalogue nor our client, so the only link between the two is the address it spells.
"""

import ast
import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wire.operation import Operation

ASKING = "ask"  # the method with which a contract test asks: ask("GET", "/api/2/…")
SHORT = ("get", "post", "good", "refused")  # those that take an address alone, and POST when they have a body as well
_ANY = "*"  # what is only known when the test runs
_Names = dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Request:
    """One call of a contract test: which test, and what it asks; `*` stands for what is not spelled out."""

    test: str
    method: str
    path: str


def asked_in(files: Iterable[Path]) -> list[Request]:
    """Every call of the tests in the files, in their order."""
    return [request for path in files for request in _requests(path)]


def tests_of(operations: Sequence[Operation], calls: Iterable[Request]) -> dict[str, str]:
    """The first test that asks each operation, by the operation's name; an operation nobody asks is missing."""
    tests: dict[str, str] = {}
    for request in calls:
        operation = _meant(operations, request)
        if operation is not None:
            tests.setdefault(operation.name, request.test)
    return tests


def _meant(operations: Sequence[Operation], request: Request) -> Operation | None:
    """The operation of a call; an address with fewer parameters in it comes before one with more."""
    pieces = request.path.partition("?")[0].strip("/").split("/")
    fitting = [
        operation
        for operation in operations
        if operation.method == request.method and _fits(operation.path.strip("/").split("/"), pieces)
    ]
    return min(fitting, key=lambda operation: operation.path.count("{"), default=None)


def _fits(documented: list[str], pieces: list[str]) -> bool:
    return len(documented) == len(pieces) and all(
        each == part or (each.startswith("{") and part != "") for each, part in zip(documented, pieces, strict=True)
    )


# Reading a test file -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Reader:
    """The texts that names stand for, in one function of a file."""

    names: _Names = field(default_factory=dict)

    def learn(self, node: ast.AST) -> None:
        """Takes over a name that is given texts, at once or one after the other."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._keep(name, [value])
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for target, value in zip(targets, values, strict=False):
                    self.learn(ast.Assign(targets=[target], value=value))
            case ast.For(target=ast.Name(id=name), iter=ast.Tuple(elts=values) | ast.List(elts=values)):
                self._keep(name, values)
            case ast.For(target=ast.Tuple(elts=names), iter=ast.Tuple(elts=rows) | ast.List(elts=rows)):
                self._keep_columns([name.id for name in names if isinstance(name, ast.Name)], rows)
            case ast.Call(
                func=ast.Attribute(attr="parametrize"),
                args=[ast.Constant(value=str(name)), ast.Tuple(elts=values) | ast.List(elts=values)],
            ):
                self._keep(name, values)
            case ast.Call(
                func=ast.Attribute(attr="parametrize"), args=[ast.Constant(value=str(name)), ast.Name() as node_value]
            ):
                self._keep(name, [node_value])
            case ast.Call(
                func=ast.Attribute(attr="parametrize"),
                args=[ast.Tuple(elts=names), ast.Tuple(elts=rows) | ast.List(elts=rows)],
            ):
                self._keep_columns([str(name.value) for name in names if isinstance(name, ast.Constant)], rows)

    def _keep_columns(self, names: list[str], rows: list[ast.expr]) -> None:
        """Several names that are given the parts of each row."""
        value_rows = [row.elts for row in rows if isinstance(row, ast.Tuple) and len(row.elts) == len(names)]
        for place, name in enumerate(names):
            self._keep(name, [parts[place] for parts in value_rows])

    def _keep(self, name: str, values: list[ast.expr]) -> None:
        texts = tuple(text for value in values for text in self.texts(value))
        if texts:
            self.names[name] = texts

    def texts(self, node: ast.expr) -> tuple[str, ...]:
        """The texts that an expression may be, with `*` for parts that are not spelled out; empty for no text."""
        texts: tuple[str, ...] = ()
        match node:
            case ast.Constant(value=str(text)):
                texts = (text,)
            case ast.Name(id=name):
                texts = self.names.get(name, ())
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                texts = tuple(text for part in parts for text in self.texts(part))
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                texts = _joined([self.texts(left) or (_ANY,), self.texts(right) or (_ANY,)])
            case ast.JoinedStr(values=parts):
                texts = _joined([self.texts(part) or (_ANY,) for part in parts])
            case ast.FormattedValue(value=value):
                texts = self.texts(value)
        return texts


def _joined(parts: list[tuple[str, ...]]) -> tuple[str, ...]:
    joined = [""]
    for texts in parts:
        joined = [before + text for before in joined for text in texts]
    return tuple(joined)


@functools.cache
def _requests(path: Path) -> tuple[Request, ...]:
    return tuple(_each_asked(path))


def _each_asked(path: Path) -> Iterator[Request]:
    syntax = ast.parse(path.read_text())
    functions = [node for node in syntax.body if isinstance(node, ast.FunctionDef)]
    module_reader = _Reader()
    for statement in syntax.body:
        module_reader.learn(statement)
    shorthands = {function.name: short for function in functions if (short := _shorthand(function)) is not None}
    for function in functions:
        if not function.name.startswith("test_"):
            continue
        reader = _Reader(dict(module_reader.names))
        for part in _in_order(function):
            reader.learn(part)
            if isinstance(part, ast.Call) and (request := _request_of(part, shorthands)) is not None:
                for method in reader.texts(request[0]):
                    for target in reader.texts(request[1]):
                        yield Request(f"{path.name}::{function.name}", method, target)


def _in_order(function: ast.FunctionDef) -> Sequence[ast.stmt | ast.expr]:
    """The function's parts as they stand in the text, so that a name is known before it is used."""
    parts = [node for node in ast.walk(function) if isinstance(node, ast.stmt | ast.expr)]
    return sorted(parts, key=lambda node: (node.lineno, node.col_offset))


def _request_of(call: ast.Call, shorthands: dict[str, tuple[ast.expr, int]]) -> tuple[ast.expr, ast.expr] | None:
    """What a call says of method and address; None when it asks nothing."""
    match call:
        case ast.Call(func=ast.Attribute(attr=name), args=[method, target, *_]) if name == ASKING:
            return method, target
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in shorthands:
            method, place = shorthands[name]
            return (method, arguments[place]) if place < len(arguments) else None
        case ast.Call(func=ast.Attribute(attr=name), args=[target, *body], keywords=more) if name in SHORT:
            posts = name == "post" or (name != "get" and (body or any(each.arg == "body" for each in more)))
            return ast.Constant("POST" if posts else "GET"), target
    return None


def _shorthand(function: ast.FunctionDef) -> tuple[ast.expr, int] | None:
    """The method that a function asks with, and which of its arguments is the address; None when it is no such one."""
    names = [argument.arg for argument in function.args.args]
    for part in _in_order(function):
        match part:
            case ast.Call(func=ast.Attribute(attr=name), args=[ast.Constant() as method, ast.Name(id=target), *_]) if (
                name == ASKING and target in names
            ):
                return method, names.index(target)
    return None
