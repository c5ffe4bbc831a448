"""A pytest plugin (`-p tests.selection`): which tests a stage takes, so that a promise is proven once in `make test`.

TESTS_DEPTH says how much: `whole` takes everything, as a run without it does. `usual` takes, of the tests that use
rows, those that belong to this run's database (the mark `engine` means PostgreSQL, no mark means SQLite), without those
marked `thorough`. To these comes the part whose turn it is, TESTS_TURN of TURNS: of what is marked `thorough`, and of
the tests that belong to the other database. So each of two dozen commits sees a part of what only `make thorough`
runs.
Of what is marked `every(3, reason)` each commit takes a third, and each test of it comes with every third commit.

`quick` takes everything but what is marked `thorough`, on whatever database there is. What drives a browser it takes as
well, because it is asked for only where a page or a script changed.

TESTS_SHARD, `2/4`, takes the second of four parts of what is left.
"""

import os
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

TURNS = 24  # as many as leave `make test` its budget: the tests of every commit take most of it
_IN_TURN = "in turn"  # the property of a report that says so, for the budget

_counts = {"left out": 0, _IN_TURN: 0}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what this stage takes, in the order in which it stands."""
    taken = set(choose(items))
    left_out = [item for item in items if item not in taken]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item in taken]
    _counts["left out"], _counts[_IN_TURN] = len(left_out), sum(map(is_in_turn, items))


def choose(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests that the environment asks for; those that are in turn are marked so.

    Raises UsageError for a mark that doesn't say why.
    """
    for item in items:
        for name in ("engine", "thorough"):
            if any(not (mark.args and str(mark.args[0]).strip()) for mark in item.iter_markers(name)):
                raise pytest.UsageError(f"{item.nodeid} is marked {name} without a reason.")
        every(item)
    if _depth() == "quick":
        items = [
            item for item in items if not item.get_closest_marker("thorough") or item.get_closest_marker("browser")
        ]
    chosen = _of_this_depth(items) if _depth() == "usual" else items
    shard = os.environ.get("TESTS_SHARD")
    return _of_shard(chosen, shard) if shard else chosen


def _depth() -> str:
    return os.environ.get("TESTS_DEPTH", "whole")


def is_usual_depth() -> bool:
    """Whether this is `make test` or `make quick`, which leave to its turn what only `make thorough` runs whole."""
    return _depth() in {"usual", "quick"}


def turn() -> int:
    """Whose turn it is, from 0 to TURNS - 1."""
    return int(os.environ.get("TESTS_TURN", "0")) % TURNS


def _of_this_depth(items: list[pytest.Item]) -> list[pytest.Item]:
    database = os.environ.get("TEST_DATABASE", "postgres")
    usual = {item for item in items if is_usual(item, database)}
    in_turn = {item for item in items if item not in usual and _may_come(item, database)}
    turns = turns_of((unit(item) for item in in_turn), TURNS)
    in_turn = {item for item in in_turn if turns[unit(item)] == turn()}
    alternating = {item for item in usual if every(item) > 1}
    for item in in_turn | alternating:
        item.user_properties.append((_IN_TURN, True))
    taken = {item for item in usual if _place(item) % every(item) == turn() % every(item)} | in_turn
    return [item for item in items if item in taken]


def every(item: pytest.Item) -> int:
    """With how many commits the test comes once in `make test`; 1 without the mark. Raises UsageError."""
    mark = item.get_closest_marker("every")
    if mark is None:
        return 1
    match mark.args:
        case (int(commits), str(reason)) if commits > 1 and TURNS % commits == 0 and reason.strip():
            return commits
    raise pytest.UsageError(f"{item.nodeid}: every(commits, reason), where the commits divide {TURNS}.")


def _place(item: pytest.Item) -> int:
    """A number of the test that no other test changes, spread evenly."""
    return zlib.crc32(item.nodeid.encode())


def is_usual(item: pytest.Item, database: str) -> bool:
    """Whether every `make test` runs it on this database (postgres, sqlite, none)."""
    if item.get_closest_marker("thorough"):
        return False
    return (database == "postgres") == (item.get_closest_marker("engine") is not None)


def _may_come(item: pytest.Item, database: str) -> bool:
    """Whether its turn comes on this database; what is marked `engine` comes on it without rows as well."""
    return uses_rows(item) or database != "postgres" or item.get_closest_marker("engine") is not None


def uses_rows(item: pytest.Item) -> bool:
    """Whether the test asks for a database."""
    fixtures = getattr(item, "fixturenames", ())
    return item.get_closest_marker("django_db") is not None or "db" in fixtures or "transactional_db" in fixtures


def unit(item: pytest.Item) -> str:
    """What has its turn together: a file that is marked as a whole, because its worlds are dear; else one test."""
    module = item.getparent(pytest.Module)
    is_whole = module is not None and any(mark.name == "thorough" for mark in module.own_markers)
    return _path(item) if is_whole else item.nodeid


def turns_of(units: Iterable[str], turns: int) -> Mapping[str, int]:
    """The turn of each unit: dealt out by name, so that neighbours, which cost alike, are spread over all turns."""
    return {name: place % turns for place, name in enumerate(sorted(set(units)))}


def _of_shard(items: list[pytest.Item], shard: str) -> list[pytest.Item]:
    number, _, most = shard.partition("/")
    parts = turns_of((item.nodeid for item in items), int(most))
    return [item for item in items if parts[item.nodeid] == int(number) - 1]


def _path(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def pytest_report_collectionfinish(config: pytest.Config) -> str:
    """One line of the run's head: how much it leaves out."""
    when = f", turn {turn()} of {TURNS}" if is_usual_depth() else ""
    kinds = f"{_counts['left out']} tests left out, {_counts[_IN_TURN]} of those that run are in turn"
    return f"depth: {_depth()}{when}; {kinds}"


def is_in_turn(test: Any) -> bool:
    """Whether a test (or the report of it) runs because it is its turn: what it costs belongs to no stage's share."""
    return (_IN_TURN, True) in test.user_properties
