"""Which page about the chain needs which operation: the rules name what they look up, and one table names their pages.

A module of chaindata/domain that names operations and has no page, or the other way round, is an error.
"""

import ast
import functools
from collections.abc import Mapping
from pathlib import Path

from chaindata.wire import catalogue
from project.coverage.uses import CannotTell

# Modules of chaindata/domain, or the first word of several, and the names of the pages that they work for.
PAGES: Mapping[str, tuple[str, ...]] = {
    "accounts": ("chain-accounts",),
    "broadcast": ("chain-broadcasts",),
    "explaining": ("chain-tools-transaction", "chain-broadcast-new"),
    "finding": ("chain",),
    "following": ("chain",),
    "header": ("chain",),
    "outputs": ("withdrawals",),
    "pages_address": ("chain-address",),
    "pages_block": ("chain-block",),
    "pages_home": ("chain",),
    "pages_layers": ("chain-transaction",),
    "pages_transaction": ("chain-transaction",),
    "payload_making": ("chain-tools-payload",),
    "proofs": ("withdrawals",),
    "second_opinions": ("chain-tools",),
    "tokens": ("chain-tokens",),
}
# What works for all of them, and names operations without needing one.
MACHINERY = frozenset({"burial", "freshness"})


@functools.cache
def operations_by_module(root: Path) -> Mapping[str, frozenset[str]]:
    """The operations that each module of the rules names, or asks by the client's method of that name."""
    paths = sorted((root / "chaindata" / "domain").glob("*.py"))
    found = {path.stem: _named(path) for path in paths if path.stem not in MACHINERY}
    return {module: operations for module, operations in found.items() if operations}


def pages_of(root: Path, pages: Mapping[str, tuple[str, ...]] = PAGES) -> dict[str, tuple[str, ...]]:
    """The names of the pages that need each operation, by the operation's name. Raises `CannotTell`."""
    by_module = operations_by_module(root)
    entries = {module: module if module in pages else module.partition("_")[0] for module in by_module}
    missing = sorted(module for module, entry in entries.items() if entry not in pages)
    if missing:
        raise CannotTell(
            f"These rules ask about the chain and have no page in project/coverage/chain_uses.py: {missing}"
        )
    idle = sorted(set(pages) - set(entries.values()))
    if idle:
        raise CannotTell(f"These have a page in project/coverage/chain_uses.py and ask nothing: {idle}")
    found: dict[str, dict[str, None]] = {}
    for module, operations in by_module.items():
        for operation in sorted(operations):
            found.setdefault(operation, {}).update(dict.fromkeys(pages[entries[module]]))
    return {operation: tuple(names) for operation, names in found.items()}


def _named(path: Path) -> frozenset[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Constant(value=str(text)) if text in catalogue.by_name:
                found.add(text)
            case ast.Attribute(value=ast.Name(id="client"), attr=name) if name in catalogue.by_name:
                found.add(name)
    return frozenset(found)
