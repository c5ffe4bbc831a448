"""docs/crash-points.md: every point has tests that exist, and one that kills a process where the list says so."""

import ast
import re

from tests.architecture import tree

PAGE = tree.ROOT / "docs" / "crash-points.md"
FOLDERS = {
    "W": "tests/exchange_ops/withdrawals",
    "T": "tests/exchange_ops/transfers",
    "M": "tests/money",
    "E": "tests/exchange_ops",
}
POINTS = 39
ROW = re.compile(r"^\| C(\d+)( K)? \|.*\| ([^|]+) \|$", re.MULTILINE)
TEST = re.compile(r"`([^`:]+)::(\w+)`")


def path_of(written):
    first, _, rest = written.partition("/")
    return f"{FOLDERS[first]}/{rest}" if first in FOLDERS else written


def rows():
    """(number, whether a process is killed, its tests by path and name) of each point."""
    for number, kills, proof in ROW.findall(PAGE.read_text()):
        yield int(number), bool(kills), [(path_of(path), name) for path, name in TEST.findall(proof)]


def test_every_point_has_tests_that_exist():
    assert [number for number, *_ in rows()] == list(range(1, POINTS + 1))
    written = {
        (module.path, node.name)
        for module in tree.everything()
        for node in module.nodes
        if isinstance(node, ast.FunctionDef)
    }
    missing = {f"C{number}": set(tests) - written for number, _, tests in rows()}
    assert not {point: tests for point, tests in missing.items() if tests}
    assert all(tests for *_, tests in rows())


def test_where_a_process_is_killed_a_test_kills_one():
    killed = [tests for _, kills, tests in rows() if kills]
    assert killed
    assert all(any(path.startswith("tests/money/") for path, _ in tests) for tests in killed)


def test_the_page_names_its_folders_as_they_are_read_here():
    assert dict(re.findall(r"`(\w)` is `([^`]+)`", PAGE.read_text())) == FOLDERS
