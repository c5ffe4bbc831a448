"""Budgets: what is larger than this is two things."""

import ast
from collections import Counter

import pytest

from tests.architecture import tree

MODULE_LINES, FUNCTION_LINES, TEMPLATE_LINES, VIEW_LINES, FOLDER_FILES = 400, 60, 80, 30, 20


def is_table(module):
    """A table of facts is as long as its subject."""
    return "catalogue" in module.parts[-1]


def test_no_module_is_longer_than_its_budget():
    found = {module.path: module.text.count("\n") for module in tree.production() if not is_table(module)}
    assert not {path: lines for path, lines in found.items() if lines > MODULE_LINES}


def test_no_function_is_longer_than_its_budget():
    assert not {
        f"{module.path}:{node.lineno} {node.name}": node.end_lineno - node.lineno
        for module in tree.production()
        for node in tree.functions(module)
        if node.end_lineno - node.lineno > FUNCTION_LINES
    }


def test_no_view_does_the_work_itself():
    assert not {
        f"{module.path}:{node.lineno} {node.name}": node.end_lineno - node.lineno
        for module in tree.production()
        if {"views", "pages"} & set(module.parts)
        for node in module.syntax.body
        if isinstance(node, ast.FunctionDef) and node.args.args[:1] and node.args.args[0].arg == "request"
        if node.end_lineno - node.lineno > VIEW_LINES
    }


def test_no_folder_of_the_exchange_is_crowded():
    """What needs more files than this is two rooms. Migrations only ever grow."""
    files = Counter(module.parts[:-1] for module in tree.production() if module.parts[0] == "exchange_ops")
    assert not {"/".join(folder): count for folder, count in files.items() if count > FOLDER_FILES}


def test_no_template_is_longer_than_its_budget():
    templates = [path for app in ("templates", *tree.APPS) for path in (tree.ROOT / app).rglob("*.html")]
    if not templates:
        pytest.fail("there are no templates where they should be")
    sizes = {str(path.relative_to(tree.ROOT)): path.read_text().count("\n") for path in templates}
    assert not {path: lines for path, lines in sizes.items() if lines > TEMPLATE_LINES}
