"""Which page of the desk uses which operation: from the calls in the rules, and one declared table of pages.

The rules say what they call, so only the page that a rule's module belongs to is declared here. A module that calls the
exchange and has no page, or the other way round, is an error: the table follows the code.
"""

import ast
import functools
from collections.abc import Mapping
from pathlib import Path

from exchange_ops.wire import catalogue

# Modules of the rooms of exchange_ops that call the exchange, or the room or sub-room that all such modules below it
# belong to, and the names of the pages that they work for.
PAGES: Mapping[str, tuple[str, ...]] = {
    "addresses": ("funds",),
    "addresses.checks": ("withdrawal-new",),
    "keys": ("keys",),
    "ledger": ("ledger",),
    "ledger.balances": ("funds", "overview"),
    "margin": ("margin",),
    "market": ("markets",),
    "orders": ("orders",),
    "orders.steps.trading_line": ("orders", "order-new", "order-replace"),
    "positions": ("margin",),
    "subaccounts": ("subaccounts",),
    "transfers": ("transfers",),
    "withdrawals.evidence": ("ledger",),
    "withdrawals.steps": ("withdrawals",),
    "withdrawals.steps.settlement": ("funds",),
}
# Folders of exchange_ops that hold no rules.
_NO_ROOMS = {"client", "management", "migrations", "pages", "templatetags", "wire"}


class CannotTell(Exception):
    """The table of pages and the rules that call the exchange don't match; the text says where."""


@functools.cache
def operations_by_module(root: Path) -> Mapping[str, frozenset[str]]:
    """The operations that each module of the rules calls, whatever way the client offers them."""
    offered = _offered(root / "exchange_ops" / "client")
    app = root / "exchange_ops"
    rooms = sorted(path for path in app.glob("*/**/*.py") if path.relative_to(app).parts[0] not in _NO_ROOMS)
    operations_of = {".".join(path.relative_to(app).with_suffix("").parts): _used(path, offered) for path in rooms}
    return {module: operations for module, operations in operations_of.items() if operations}


def pages_of(root: Path, pages: Mapping[str, tuple[str, ...]] = PAGES) -> dict[str, tuple[str, ...]]:
    """The names of the pages that use each operation, by the operation's name. Raises `CannotTell`."""
    by_module = operations_by_module(root)
    entries = {module: _entry(module, pages) for module in by_module}
    missing = sorted(module for module, entry in entries.items() if entry not in pages)
    if missing:
        raise CannotTell(f"These rules call the exchange and have no page in tools/coverage/uses.py: {missing}")
    idle = sorted(set(pages) - set(entries.values()))
    if idle:
        raise CannotTell(f"These have a page in tools/coverage/uses.py and call nothing: {idle}")
    pages_by_operation: dict[str, dict[str, None]] = {}
    for module, operations in by_module.items():
        for operation in operations:
            pages_by_operation.setdefault(operation, {}).update(dict.fromkeys(pages[entries[module]]))
    return {operation: tuple(names) for operation, names in pages_by_operation.items()}


def _entry(module: str, pages: Mapping[str, tuple[str, ...]]) -> str:
    """The module itself where it has pages of its own, else the nearest room above it that has."""
    while module not in pages and "." in module:
        module = module.rpartition(".")[0]
    return module


# Reading the code ----------------------------------------------------------------------------------------------------


def _offered(folder: Path) -> dict[str, frozenset[str]]:
    """What calling a function of the client asks, by the function's name: itself, or what it walks through."""
    calls: dict[str, set[str]] = {}
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                calls.setdefault(node.name, set()).update(_named(node))
    offered = {name: frozenset({name}) for name in catalogue.by_name}
    for name in calls:
        if name not in offered:
            offered[name] = frozenset(_reached(name, calls, set()))
    return {name: operations for name, operations in offered.items() if operations}


def _named(function: ast.FunctionDef) -> set[str]:
    """Names of what the function calls, and the texts it calls with: an operation may be either."""
    names: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Attribute(attr=name) | ast.Call(func=ast.Name(id=name)):
                names.add(name)
            case ast.Call(args=[ast.Constant(value=str(text)), *_]):
                names.add(text)
    return names


def _reached(name: str, calls: Mapping[str, set[str]], visited: set[str]) -> set[str]:
    visited.add(name)
    operations: set[str] = set()
    for each in calls.get(name, ()):
        if each in catalogue.by_name:
            operations.add(each)
        elif each not in visited and each.startswith("_"):
            operations |= _reached(each, calls, visited)
    return operations


def _used(path: Path, offered: Mapping[str, frozenset[str]]) -> frozenset[str]:
    syntax = ast.parse(path.read_text())
    nodes = list(ast.walk(syntax))
    givers = {"client"} | {
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("exchange_ops.client")
        for alias in node.names
    }
    operations: set[str] = set()
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=giver), attr="call" | "listing"), args=[name, *_]) if (
                giver in givers
            ):
                # Called by a name that stands elsewhere in the module, any name that stands there may be meant.
                operations |= _texts(name) or _texts(syntax)
            case ast.Attribute(value=ast.Name(id=giver), attr=name) if giver in givers and name in offered:
                operations |= offered[name]
            case ast.Call(func=ast.Name(id=name)) if name in givers and name in offered:
                operations |= offered[name]
    return frozenset(operations)


def _texts(node: ast.AST) -> set[str]:
    """The operations that are named by texts inside."""
    texts = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)}
    return texts & set(catalogue.by_name)
