"""Borders that import contracts can't draw: what the sandbox may know, and the money's form."""

import ast
import subprocess
import sys
from pathlib import Path

from tests.architecture import tree


def test_the_import_contracts_hold():
    linter = Path(sys.executable).parent / "lint-imports"
    ended = subprocess.run([linter, "--no-cache"], cwd=tree.ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def is_allowed_in_sandbox(name):
    """Its own modules, the shared wire and the wires of the apps; of the outside world anything but frameworks."""
    top, *rest = name.split(".")
    if top in {"sandbox", "wire"}:
        return True
    if top in tree.APPS:
        return rest[:1] == ["wire"]
    return top not in {"django", "rest_framework", "celery", "channels"}


def test_the_sandbox_sees_only_the_wire():
    strange = {
        f"{module.path}: {name}"
        for module in tree.production()
        if module.parts[0] == "sandbox"
        for name in tree.imports(module)
        if not is_allowed_in_sandbox(name)
    }
    assert not strange


def test_only_the_project_and_the_tests_know_the_sandbox():
    knowing = [
        module.path
        for module in tree.production()
        if module.parts[0] not in {"sandbox", "project", "manage"}
        and any(name.split(".")[0] == "sandbox" for name in tree.imports(module))
    ]
    assert not knowing


def test_money_never_becomes_a_float():
    found = [
        f"{module.path}:{node.lineno}"
        for module in tree.production()
        if module.may_meet_money
        for node in module.nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float"
    ]
    assert not found


def test_a_secret_is_opened_only_where_it_is_used():
    """Pages, forms, logs and messages pass secrets on closed; who signs, seals or hashes opens them."""
    closed = {"views", "pages", "api", "templatetags", "forms", "context", "logs", "live", "audit", "outbox"}
    found = [module.path for module in tree.production() if ".reveal()" in module.text and closed & set(module.parts)]
    assert not found


# The last one appends what stands in the migration to the chain of entries, as whoever appends to it does.
MEANS_OF_MIGRATIONS = {"desk.fields", "desk.database.operations", "desk.audit.witness_columns"}


def test_no_migration_of_the_exchange_runs_live_modules():
    """What a migration installs stands in it: a later change of the code must not change what was installed."""
    live = {
        f"{path.name}: {name}"
        for path in sorted((tree.ROOT / "exchange_ops" / "migrations").glob("[0-9]*.py"))
        for name in tree.imports(tree.read(path))
        if name.split(".")[0] in tree.APPS and not {name, name.rpartition(".")[0]} & MEANS_OF_MIGRATIONS
    }
    assert not live
