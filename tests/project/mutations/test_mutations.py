"""The tests of `make test` catch mistakes in the code about money: each mutation of the table makes its tests fail.

The table itself is checked with each commit, the mistakes are made in a copy of the tree in their turn.
"""

import ast
import os
from collections.abc import Iterator
from functools import cache

import pytest

from project.bootstrap import ROOT
from tests.project.mutations.copied_tree import CopiedTree, Outcome
from tests.project.mutations.mutation import Mutation
from tests.project.mutations.table import MUTATIONS

_ON_POSTGRESQL = pytest.mark.engine("the tests that it runs are marked so")
_HERE = [
    pytest.param(each, id=each.name, marks=_ON_POSTGRESQL if each.is_postgresql else ())
    for each in MUTATIONS
    if each.database == os.environ.get("TEST_DATABASE", "postgres")
]
# Of a test that is `crossed` some cases come in each commit, which are named with their parameters then.
_NOT_IN_EACH_COMMIT = {"thorough", "every", "browser", "house", "crossed"}


def test_each_mutation_can_be_made_and_its_tests_run_in_each_make_test():
    """Cheap, so that whoever changes the code or moves a test changes the table in the same commit."""
    problems = [f"{each.name}: {problem}" for each in MUTATIONS for problem in _problems(each)]
    assert not problems, "\n".join(problems)
    names = [each.name for each in MUTATIONS]
    assert sorted(set(names)) == sorted(names)


def _problems(mutation: Mutation) -> Iterator[str]:
    if (places := mutation.path.read_text().count(mutation.old)) != 1:
        yield f"its text stands {places} times in {mutation.file}, not once"
    if mutation.old == mutation.new or not mutation.tests:
        yield "it changes nothing, or names no test"
    for test in mutation.tests:
        file, _, rest = test.partition("::")
        marks = _marks(file).get(rest.partition("[")[0])
        if marks is None:
            yield f"there is no {test}"
        elif late := marks & _NOT_IN_EACH_COMMIT - ({"crossed"} if "[" in rest else set()):
            yield f"not every `make test` runs {test}: {', '.join(sorted(late))}"
        elif ("engine" in marks) != mutation.is_postgresql:
            yield f"`make test` runs {test} on the other database"


@cache
def _marks(file: str) -> dict[str, set[str]]:
    """The names in the marks of each test of a file: its own, those of its class and those of the whole file."""
    syntax = ast.parse((ROOT / file).read_text())
    assigned = {
        target.id: each.value
        for each in syntax.body
        if isinstance(each, ast.Assign)
        for target in each.targets
        if isinstance(target, ast.Name)
    }
    return dict(_marks_in(syntax, assigned))


def _marks_in(
    node: ast.Module | ast.ClassDef,
    assigned: dict[str, ast.expr],
    before: str = "",
    around: frozenset[str] = frozenset(),
) -> Iterator[tuple[str, set[str]]]:
    for each in node.body:
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "pytestmark":
            around |= _names(each.value, assigned)
    for each in node.body:
        if isinstance(each, ast.FunctionDef | ast.ClassDef):
            marks = around.union(*(_names(mark, assigned) for mark in each.decorator_list))
            if isinstance(each, ast.ClassDef):
                yield from _marks_in(each, assigned, f"{before}{each.name}::", marks)
            else:
                yield f"{before}{each.name}", set(marks)


def _names(mark: ast.expr, assigned: dict[str, ast.expr]) -> set[str]:
    """Every name in a mark, and in what the file itself assigns to such a name."""
    names = set()
    for node in ast.walk(mark):
        if isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.Name):
            names.add(node.id)
            if (value := assigned.get(node.id)) is not None and value is not mark:
                names |= _names(value, assigned)
    return names


@pytest.fixture(scope="module")
def copied_tree(tmp_path_factory):
    """One copy for all mutations: each is taken back before the next one is made."""
    return CopiedTree(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="module")
def without_mutation(request, copied_tree) -> Outcome | None:
    """The tests of all mutations that come in this run, in the tree as it is."""
    coming = [item.callspec.params["mutation"] for item in request.session.items if _is_of_mutation(item)]
    tests = sorted({test for mutation in coming for test in mutation.tests})
    return copied_tree.run(tests, database=coming[0].database)


def _is_of_mutation(item: pytest.Item) -> bool:
    return getattr(item, "originalname", "") == test_a_mutation_is_caught.__name__


@pytest.mark.thorough("a process for each mutation: what it proves changes with the code or the tests of its subject")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("mutation", _HERE)
def test_a_mutation_is_caught(mutation, copied_tree, without_mutation):
    """Of mutations whose tests run on the other database the run on that one takes care."""
    assert all(without_mutation.passed(test) for test in mutation.tests), without_mutation.output
    broken = copied_tree.run_broken(mutation)
    assert broken.code == pytest.ExitCode.TESTS_FAILED, broken.output
    assert all(broken.failed(test) for test in mutation.tests), broken.output
