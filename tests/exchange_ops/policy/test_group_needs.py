"""Which approvals count for which group: compared with trying every way to give them."""

from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exchange_ops.evidence.verifier.votes import _unmet
from exchange_ops.policy.groups import needs as group_needs
from exchange_ops.policy.groups.needs import Need, Tally

PEOPLE = range(1, 6)
NEEDS = st.lists(st.tuples(st.integers(1, 2), st.frozensets(st.sampled_from(PEOPLE))), max_size=3).map(
    lambda each: tuple(Need(f"G{n}", count, tuple(sorted(members))) for n, (count, members) in enumerate(each))
)


def can_be_given(needs: tuple[Need, ...], people: frozenset[int]) -> bool:
    """Whether some order of some of the people gives each approval to a member of its group: by trying all."""
    seats = [need for need in needs for _ in range(need.approvals)]
    return any(
        all(person in need.members for person, need in zip(order, seats, strict=True))
        for order in permutations(people, len(seats))
    )


@given(NEEDS, st.frozensets(st.sampled_from(PEOPLE)), st.integers(0, 2), st.sampled_from(PEOPLE))
def test_a_quorum_is_reached_where_everybody_can_count_once(
    needs: tuple[Need, ...], people: frozenset[int], more: int, person: int
) -> None:
    """So say the desk and the verifier, which has its own way to count, and an approval counts where it helps."""
    total = sum(need.approvals for need in needs)
    tally = Tally(needs, max(total + more, 1), people)
    given_all = can_be_given(needs, people)
    assert tally.is_reached == (given_all and len(people) >= tally.needed) == (tally.counted == tally.needed)
    assert bool(tally.missing) == (not given_all) == _unmet(group_needs.as_json(needs) or [], set(people))
    most = max(
        len(some) for size in range(len(people) + 1) for some in combinations(people, size) if _seated(needs, some)
    )
    assert tally.counted == most + min(len(people) - most, tally.needed - total)
    if person not in people:
        after = Tally(needs, tally.needed, people | {person})
        assert tally.counts(person) == (after.counted > tally.counted)
        assert bool(tally.for_groups(person)) == (sum(group_needs.matched(needs, after.voters).values()) > most)


def _seated(needs: tuple[Need, ...], some: tuple[int, ...]) -> bool:
    seats = [need for need in needs for _ in range(need.approvals)]
    return len(some) <= len(seats) and any(
        all(person in need.members for person, need in zip(some, order, strict=True))
        for order in permutations(seats, len(some))
    )


def test_of_several_that_apply_at_once_each_group_gives_the_most_that_one_of_them_needs() -> None:
    """A tier and rules for payouts, in any order: none makes what another one asks for smaller."""
    for each in permutations([(("Board", 1), ("Finance", 2)), (("Board", 2),), (("Risk", 1),), ()]):
        assert group_needs.strictest(each) == (("Board", 2), ("Finance", 2), ("Risk", 1))


@pytest.mark.parametrize(
    ("people", "sentence"),
    [
        ({1}, "Waits for 1 of Board and 1 more approval"),
        ({4}, "Waits for 1 of Board and 1 of Finance"),
        ({3}, "Waits for 1 of Board or Finance and 1 more approval"),
        ({1, 4}, "Waits for 1 of Board"),
        ({1, 2}, ""),
    ],
)
def test_what_is_missing_in_words(people: set[int], sentence: str) -> None:
    """Somebody of both groups leaves open which of them is missing."""
    needs = (Need("Board", 1, (2, 3)), Need("Finance", 1, (1, 3)))
    assert Tally(needs, 3, frozenset(people)).waits_for == sentence
