"""Which tests a stage takes: on one database each, without what is thorough, and with the part whose turn it is."""

import itertools

import pytest

from tests import cases, selection, trail

TESTS = """
import pytest

def test_pure(): pass

@pytest.mark.django_db
def test_rows(): pass

@pytest.mark.engine("locks")
def test_locks(transactional_db): pass

@pytest.mark.thorough("much of the same")
@pytest.mark.parametrize("number", range(30))
def test_much(db, number): pass

@pytest.mark.every(3, "one look of many")
@pytest.mark.parametrize("number", range(30))
def test_round(db, number): pass

@pytest.mark.engine("it starts a desk of its own on PostgreSQL")
@pytest.mark.thorough("a whole desk")
def test_desk(): pass

@pytest.mark.browser
def test_seen(db): pass

@pytest.mark.browser
@pytest.mark.thorough("a second look")
def test_shown(db): pass
"""
DEAR = """
import pytest

pytestmark = pytest.mark.thorough("a world of its own")

@pytest.mark.parametrize("number", range(5))
def test_it(db, number): pass
"""
ALWAYS = {"test_pure", "test_rows", "test_seen"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two files of tests; under other names Python would take them for the same modules."""
    made = tmp_path_factory.mktemp("selection")
    (made / "test_small_selection.py").write_text(TESTS)
    (made / "test_dear_selection.py").write_text(DEAR)
    return made


@pytest.fixture
def items(request, folder):
    """Fresh items of two files, as a run collects them."""

    def collect():
        modules = [pytest.Module.from_parent(request.session, path=path) for path in sorted(folder.glob("*.py"))]
        return [item for module in modules for item in module.collect()]

    return collect


@pytest.fixture
def chosen(items, monkeypatch):
    """`chosen(TESTS_DEPTH="usual")`: the names that a run with this environment keeps."""

    def choose(**environment):
        for name in ("TESTS_DEPTH", "TESTS_TURN", "TESTS_SHARD", "TEST_DATABASE"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return [item.name for item in selection.choose(items())]

    return choose


def test_without_a_depth_everything_runs(chosen):
    assert len(chosen()) == len(chosen(TESTS_DEPTH="whole")) == 71


def test_a_test_with_rows_runs_on_one_database_and_one_without_rows_once(chosen):
    turns = [str(turn) for turn in range(selection.TURNS)]
    sqlite = [set(chosen(TESTS_DEPTH="usual", TEST_DATABASE="sqlite", TESTS_TURN=turn)) for turn in turns]
    postgres = [set(chosen(TESTS_DEPTH="usual", TEST_DATABASE="postgres", TESTS_TURN=turn)) for turn in turns]
    assert set.intersection(*sqlite) == ALWAYS
    assert set.intersection(*postgres) == {"test_locks"}
    assert not any("test_pure" in names for names in postgres)


def test_a_quick_run_takes_what_is_not_thorough_and_every_browser(chosen):
    names = set(chosen(TESTS_DEPTH="quick", TEST_DATABASE="sqlite"))
    assert {name for name in names if "test_round" not in name} == ALWAYS | {"test_locks", "test_shown"}
    assert len(names) == 35


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_two_dozen_commits_see_everything_on_both_databases(chosen, database):
    turns = [
        chosen(TESTS_DEPTH="usual", TEST_DATABASE=database, TESTS_TURN=str(number)) for number in range(selection.TURNS)
    ]
    seen = {name for names in turns for name in names}
    assert seen == set(chosen()) - ({"test_pure"} if database == "postgres" else set())
    in_turn = [name for names in turns for name in names if name.startswith("test_much")]
    assert len(in_turn) == len(set(in_turn)) == 30, "each of them once"
    assert max(sum(name.startswith("test_much") for name in names) for names in turns) <= 3, "spread over the turns"
    # A file that is marked as a whole has one turn.
    assert sorted(sum(name.startswith("test_it") for name in names) for names in turns)[-2:] == [0, 5]


def test_what_comes_with_every_third_commit_comes_in_the_same_turns_again(chosen):
    turns = [
        {
            name
            for name in chosen(TESTS_DEPTH="usual", TEST_DATABASE="sqlite", TESTS_TURN=str(number))
            if "round" in name
        }
        for number in range(selection.TURNS)
    ]
    assert all(turns[number] == turns[number % 3] for number in range(selection.TURNS))
    assert sum(map(len, turns[:3])) == len(set().union(*turns[:3])) == 30, "each of them once in three"
    assert all(turns)


@pytest.mark.parametrize("marked", [(), (3,), (3, " "), (5, "why"), (1, "why"), (48, "why"), ("3", "why")])
def test_how_often_a_test_comes_divides_the_turns_and_has_its_reason(items, marked):
    odd = items()
    odd[0].add_marker(pytest.mark.every(*marked))
    with pytest.raises(pytest.UsageError, match="where the commits divide 24"):
        selection.choose(odd)


@pytest.mark.parametrize("name", ["engine", "thorough"])
def test_a_mark_says_why(items, name):
    unexplained = items()
    unexplained[0].add_marker(getattr(pytest.mark, name))
    with pytest.raises(pytest.UsageError, match=f"test_it.* is marked {name} without a reason"):
        selection.choose(unexplained)


def test_shards_are_the_whole_without_overlap(chosen):
    parts = [chosen(TESTS_DEPTH="whole", TESTS_SHARD=f"{number}/3") for number in (1, 2, 3)]
    assert sorted(itertools.chain(*parts)) == sorted(chosen())
    assert all(parts)


# Products of factors -------------------------------------------------------------------------------------------------


def values_of(mark):
    return [case.values for case in mark.args[1]]


def always(mark):
    return [case.values for case in mark.args[1] if not case.marks]


FACTORS = {"state": "abcdef", "role": "pqrst", "method": "wxyz", "engine": (1, 2)}


def test_all_cases_are_there_and_a_few_hold_every_pair():
    mark = cases.crossed(FACTORS)
    assert sorted(values_of(mark)) == sorted(itertools.product(*FACTORS.values()))
    pairs = {pair for row in always(mark) for pair in itertools.combinations(enumerate(row), 2)}
    assert pairs == {pair for row in values_of(mark) for pair in itertools.combinations(enumerate(row), 2)}
    assert len(always(mark)) < len(values_of(mark)) / 5


def test_each_value_alone_takes_as_many_cases_as_the_longest_factor_has_values():
    mark = cases.crossed({"state": "abcdef", "role": "pqrst"}, together=1)
    assert len(always(mark)) == 6
    assert [set(column) for column in zip(*always(mark), strict=True)] == [set("abcdef"), set("pqrst")]


def test_what_does_not_exist_is_left_out_and_every_pair_that_does_is_held():
    mark = cases.crossed(FACTORS, allowed=lambda state, role, **rest: (state, role) not in {("a", "p"), ("b", "q")})
    rows = values_of(mark)
    assert len(rows) == 240 - 2 * 8
    pairs = {pair for row in always(mark) for pair in itertools.combinations(enumerate(row), 2)}
    assert pairs == {pair for row in rows for pair in itertools.combinations(enumerate(row), 2)}


def test_what_money_hangs_on_always_runs():
    mark = cases.crossed(FACTORS, always=lambda state, **rest: state == "c")
    assert sum(row[0] == "c" for row in always(mark)) == 40


# Loops ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def at_turn(monkeypatch):
    """`at_turn(3)`: as in the `make test` whose turn it is."""

    def set_turn(number):
        monkeypatch.setenv("TESTS_DEPTH", "usual")
        monkeypatch.setenv("TESTS_TURN", str(number))

    return set_turn


@pytest.mark.parametrize("count", [0, 1, 5, 12, 30, 200])
def test_a_loop_goes_over_each_value_within_two_dozen_commits(at_turn, count):
    parts = []
    for turn in range(selection.TURNS):
        at_turn(turn)
        parts.append(cases.in_turn(range(count), loop="a"))
    assert set(itertools.chain(*parts)) == set(range(count))
    share = count // selection.TURNS
    assert {len(part) for part in parts} <= {share, share + 1} - ({0} if count else set())


def test_what_a_loop_always_needs_is_there_in_its_order_and_loops_differ(at_turn):
    at_turn(1)
    assert cases.in_turn("abcdef", always="ca".__contains__, loop="a")[0] == "a"
    assert {"a", "c"} < set(cases.in_turn("abcdef", always="ca".__contains__))
    assert len({tuple(cases.in_turn(range(12), loop=str(number))) for number in range(50)}) > 6


def test_a_loop_over_what_differs_takes_one_of_each_side(at_turn):
    at_turn(7)
    taken = cases.one_of_each("aAbBcCD", by=str.isupper)
    assert [value.isupper() for value in taken] == [False, True]


def test_elsewhere_a_loop_goes_over_everything(monkeypatch):
    monkeypatch.delenv("TESTS_DEPTH", raising=False)
    assert cases.in_turn("abc", always="a".__contains__) == ["a", "b", "c"]
    assert sorted(cases.one_of_each("aAb", by=str.isupper)) == ["A", "a", "b"]


# The trail -----------------------------------------------------------------------------------------------------------


def test_the_trail_is_replayed_once_a_file_and_when_a_test_has_its_turn(monkeypatch):
    monkeypatch.setattr(trail, "_replayed", set())
    monkeypatch.setenv("TESTS_DEPTH", "usual")
    assert trail._replays("tests/test_a.py::test_one")
    assert trail._replays("tests/test_b.py::test_one")
    turns = []
    for turn in range(selection.TURNS):
        monkeypatch.setenv("TESTS_TURN", str(turn))
        turns.append(trail._replays("tests/test_a.py::test_two"))
    assert turns.count(True) == 1
    monkeypatch.setenv("TESTS_DEPTH", "whole")
    assert trail._replays("tests/test_a.py::test_two")
