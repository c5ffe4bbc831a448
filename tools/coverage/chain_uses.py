"""Which page about the chain needs which operation: the rules name what they look up, and one table names their pages.

A module of its rooms that names operations and has no page, or the other way round, is an error.
"""

import ast
import functools
from collections.abc import Mapping
from pathlib import Path

from chaindata.cache.freshness import FRESHNESS
from chaindata.wire import catalogue
from tools.coverage.uses import CannotTell

# Rooms of the chain, or one module of a room, and the names of the pages that they work for.
PAGES: Mapping[str, tuple[str, ...]] = {
    "broadcasts": ("chain-broadcasts",),
    "broadcasts.explanation": ("chain-tools-transaction", "chain-broadcast-new"),
    "cash_accounts": ("chain-accounts",),
    "explorer.address": ("chain-address",),
    "explorer.block": ("chain-block",),
    "explorer.home": ("chain",),
    "explorer.layers": ("chain-transaction",),
    "explorer.search": ("chain",),
    "explorer.token_history": ("chain-address",),
    "explorer.transaction": ("chain-transaction",),
    "headers": ("chain",),
    "proofs": ("withdrawals",),
    "shared.outputs": ("withdrawals",),
    "tip_follower": ("chain",),
    "tokens": ("chain-tokens",),
    "tools.cross_checks": ("chain-tools",),
    "watching": ("chain-watched-address",),
    "tools.payloads": ("chain-tools-payload",),
}
# What works for all of them, and names operations without needing one; and what says how the operations are asked.
MACHINERY = frozenset({"cache.finality", "cache.freshness"})
_BELOW = frozenset({"api", "client", "management", "migrations", "templatetags", "wire"})


@functools.cache
def operations_by_module(root: Path) -> Mapping[str, frozenset[str]]:
    """The operations that each module of the rooms names, or asks by the client's method of that name."""
    home = root / "chaindata"
    paths = {".".join(path.relative_to(home).with_suffix("").parts): path for path in sorted(home.rglob("*.py"))}
    rules = {name: path for name, path in paths.items() if not _BELOW & {*name.split(".")} and "views" not in name}
    operations_by_rule = {name: _named(path) for name, path in rules.items() if name not in MACHINERY}
    return {name: operations for name, operations in operations_by_rule.items() if operations}


def pages_of(root: Path, pages: Mapping[str, tuple[str, ...]] = PAGES) -> dict[str, tuple[str, ...]]:
    """The names of the pages that need each operation, by the operation's name. Raises `CannotTell`."""
    by_module = operations_by_module(root)
    entries = {module: module if module in pages else module.partition(".")[0] for module in by_module}
    missing = sorted(module for module, entry in entries.items() if entry not in pages)
    if missing:
        raise CannotTell(f"These rules ask about the chain and have no page in tools/coverage/chain_uses.py: {missing}")
    idle = sorted(set(pages) - set(entries.values()))
    if idle:
        raise CannotTell(f"These have a page in tools/coverage/chain_uses.py and ask nothing: {idle}")
    pages_by_operation: dict[str, dict[str, None]] = {}
    for module, operations in by_module.items():
        for operation in sorted(operations):
            pages_by_operation.setdefault(operation, {}).update(dict.fromkeys(pages[entries[module]]))
    for operation, row in FRESHNESS.items():
        if row is not None and row.bulk and operation in pages_by_operation:
            pages_by_operation.setdefault(row.bulk, {}).update(
                pages_by_operation[operation]
            )  # by which the cache asks for many at once
    return {operation: tuple(names) for operation, names in pages_by_operation.items()}


def _named(path: Path) -> frozenset[str]:
    operations: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Constant(value=str(text)) if text in catalogue.by_name:
                operations.add(text)
            case ast.Attribute(value=ast.Name(id="client"), attr=name) if name in catalogue.by_name:
                operations.add(name)
    return frozenset(operations)
