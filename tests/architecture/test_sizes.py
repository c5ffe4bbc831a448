"""Budgets: what is larger than this is two things."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.architecture import tree

MODULE_LINES, FUNCTION_LINES, VIEW_LINES, FOLDER_FILES = 400, 60, 30, 20
TEMPLATE_LINES, TEMPLATE_WIDTH = 80, 160


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


def test_no_folder_of_a_room_is_crowded():
    """What needs more files than this is two rooms. Migrations only ever grow."""
    files = Counter(module.parts[:-1] for module in tree.production())
    assert not {"/".join(folder): count for folder, count in files.items() if count > FOLDER_FILES}


def test_no_folder_of_tests_is_crowded():
    files = Counter(str(Path(module.path).parent) for module in tree.everything() if module.parts[0] == "tests")
    assert not {folder: count for folder, count in files.items() if count > FOLDER_FILES}


def template_lines():
    """The lines of each template, by its path."""
    found = [path for app in ("templates", *tree.APPS) for path in (tree.ROOT / app).rglob("*.html")]
    if not found:
        pytest.fail("there are no templates where they should be")
    return {str(path.relative_to(tree.ROOT)): path.read_text().splitlines() for path in found}


def test_no_template_is_longer_than_its_budget():
    assert not {path: len(lines) for path, lines in template_lines().items() if len(lines) > TEMPLATE_LINES}


def test_no_line_of_a_template_is_wider_than_its_budget():
    assert not {
        f"{path}:{number}": len(line)
        for path, lines in template_lines().items()
        for number, line in enumerate(lines, start=1)
        if len(line) > TEMPLATE_WIDTH
    }
