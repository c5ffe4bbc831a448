"""Approval groups: what a tier or rule asks of each group, and which approvals count toward that.

A group is a name and the people in it, as one version of the rules has them. A need is a number of approvals by people
of one group. A person counts for one group only, whichever helps most: the needs are met when every approval that they
ask for can be that of another person. That is a matching in a bipartite graph; it is the largest once no path improves
it (C. Berge, "Two theorems in graph theory", 1957).

A request keeps its needs with the people of each group (`as_json`). Its digest covers them, so nobody who joins a group
later, or is written into one around the desk, counts for what was requested before.
"""

# ruff: noqa: S608  the condition of the guard is put together from the names of our own tables and columns

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

Needs = tuple[tuple[str, int], ...]
"""The approvals that a tier or rule needs of each group, in the order of the names."""
Stored = Sequence[Sequence[Any]] | None
"""Needs or groups as JSON, which a row keeps; None where there are none."""


@dataclass(frozen=True, slots=True)
class Group:
    """A group of people who approve; `members` are their numbers, the lowest first."""

    name: str
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Need:
    """At least so many approvals by these members of the group."""

    group: str
    approvals: int
    members: tuple[int, ...]


def resolved(needs: Needs, groups: Iterable[Group]) -> tuple[Need, ...]:
    """The needs with the members of their groups. Nobody meets the need of a group that is not there."""
    members = {group.name: group.members for group in groups}
    return tuple(Need(name, approvals, members.get(name, ())) for name, approvals in needs)


def of(needs: Iterable[Need]) -> Needs:
    """Resolved needs without the members."""
    return tuple((need.group, need.approvals) for need in needs)


def strictest(each: Iterable[Needs]) -> Needs:
    """For each group the most approvals that any of these asks for."""
    most: dict[str, int] = {}
    for needs in each:
        for name, approvals in needs:
            most[name] = max(approvals, most.get(name, 0))
    return tuple(sorted(most.items()))


def total(needs: Needs) -> int:
    """How many approvals the needs make together: nobody counts for two of them."""
    return sum(approvals for _, approvals in needs)


def cover(strict: Needs, mild: Needs) -> bool:
    """Whether whatever meets `strict` meets `mild` as well."""
    most = dict(strict)
    return all(most.get(name, 0) >= approvals for name, approvals in mild)


def in_words(needs: Needs) -> str:
    """The needs, within a sentence: "1 of Board and 2 of Finance". Empty without any."""
    return _list([f"{approvals} of {name}" for name, approvals in needs], "and")


def approvals_in_words(approvals: int, needs: Needs) -> str:
    """The approvals that a tier or rule asks for: "3 approvals (1 of Board and 1 of Finance)"."""
    words = "1 approval" if approvals == 1 else f"{approvals} approvals"
    return f"{words} ({in_words(needs)})" if needs else words


def needs_as_json(needs: Needs) -> Stored:
    """The needs of a tier or rule as JSON: name and approvals of each. None without any."""
    return [[name, approvals] for name, approvals in needs] or None


def needs_from_json(stored: Stored) -> Needs:
    """The needs that `needs_as_json` wrote."""
    return tuple((name, approvals) for name, approvals in stored or ())


def groups_as_json(groups: Iterable[Group]) -> Stored:
    """The groups of a version as JSON: name and members of each. None without any."""
    return [[group.name, list(group.members)] for group in groups] or None


def groups_from_json(stored: Stored) -> tuple[Group, ...]:
    """The groups that `groups_as_json` wrote."""
    return tuple(Group(name, tuple(members)) for name, members in stored or ())


def as_json(needs: Iterable[Need]) -> Stored:
    """The needs as a request stores them: name, approvals and members of each. None without any."""
    return [[need.group, need.approvals, list(need.members)] for need in needs] or None


def from_json(stored: Stored) -> tuple[Need, ...]:
    """The needs that `as_json` wrote."""
    return tuple(Need(name, approvals, tuple(members)) for name, approvals, members in stored or ())


@dataclass(frozen=True)
class Tally:
    """How far the approvals of a request are. `needed` is their number, `voters` are those whose approval is valid.

    `is_final`: it is the one approval that releases what a quorum has approved. This is the place that says whether a
    quorum is reached.
    """

    needs: tuple[Need, ...]
    needed: int
    voters: frozenset[int]
    is_final: bool = False

    @cached_property
    def counted(self) -> int:
        """How many of the approvals count: those that meet needs, and others up to what the needs leave open."""
        spare = self.needed - self._of_groups
        return self._met + max(min(len(self.voters) - self._met, spare), 0)

    @property
    def is_reached(self) -> bool:
        """Whether there are enough approvals, of every group as many as it has to give."""
        return self._met == self._of_groups and len(self.voters) >= self.needed

    def counts(self, person: int) -> bool:
        """Whether one more approval, by this person, brings the request further."""
        return person not in self.voters and self._with(person).counted > self.counted

    def helps(self, person: int) -> bool:
        """Whether the request waits for this person, if they may decide: their approval would count."""
        return not self.refusal(person)

    def refusal(self, person: int) -> str:
        """Why an approval by this person would change nothing, as a sentence; empty where it counts or was given."""
        if person in self.voters or self.is_reached or self.counts(person):
            return ""
        return f"Your approval would not count: this request waits for {self.missing}."

    def for_groups(self, person: int) -> list[str]:
        """The groups that this person's approval could count for: one of them, where it counts for any."""
        if person in self.voters or self._with(person)._met == self._met:
            return []
        return [need.group for need in self.needs if need.group in self._open and person in need.members]

    @property
    def missing(self) -> str:
        """What is still missing of the groups, within a sentence: "1 of Board". Empty once every need is met."""
        short = {need.group: need.approvals - self._by_group.get(need.group, 0) for need in self.needs}
        exact = tuple((name, count) for name, count in short.items() if count > 0)
        if {name for name, _ in exact} == self._open:
            return in_words(exact)
        # Somebody of two groups has approved, so that it is open which of the two is missing.
        return f"{self._of_groups - self._met} of {_list(sorted(self._open), 'or')}"

    @property
    def waits_for(self) -> str:
        """What the request waits for, as a sentence without an end. Empty where only the number is missing."""
        if not self.missing:
            return ""
        others = self.needed - self.counted - (self._of_groups - self._met)
        more = f" and {others} more approval{'' if others == 1 else 's'}" if others > 0 else ""
        return f"Waits for {self.missing}{more}"

    @property
    def _of_groups(self) -> int:
        return sum(need.approvals for need in self.needs)

    @cached_property
    def _met(self) -> int:
        return sum(self._by_group.values())

    @cached_property
    def _by_group(self) -> Mapping[str, int]:
        return matched(self.needs, self.voters)

    @cached_property
    def _open(self) -> set[str]:
        """The groups of which one more approval would meet a need, by somebody of this group alone."""
        return {need.group for need in self.needs if sum(self._with_one_more_of(need).values()) > self._met}

    def _with_one_more_of(self, need: Need) -> dict[str, int]:
        somebody = 0  # the number of no person
        needs = [replace(each, members=(*each.members, somebody)) if each is need else each for each in self.needs]
        return matched(needs, {*self.voters, somebody})

    def _with(self, person: int) -> "Tally":
        return replace(self, voters=self.voters | {person})


def matched(needs: Sequence[Need], people: Collection[int]) -> dict[str, int]:
    """How many approvals of each group these people give, as many together as they can; everybody gives one at most."""
    places = [place for place, need in enumerate(needs) for _ in range(need.approvals)]
    seats: dict[int, int] = {}  # the person's place in `places`, by person

    def seated(seat: int, tried: set[int]) -> bool:
        for person in _candidates(needs[places[seat]], people):
            if person in tried:
                continue
            tried.add(person)
            if person not in seats or seated(seats[person], tried):
                seats[person] = seat
                return True
        return False

    for seat in range(len(places)):
        seated(seat, set())
    counts: dict[str, int] = {}
    for seat in seats.values():
        name = needs[places[seat]].group
        counts[name] = counts.get(name, 0) + 1
    return counts


def _candidates(need: Need, people: Collection[int]) -> Iterator[int]:
    return (person for person in need.members if person in people)


def _list(words: Sequence[str], link: str) -> str:
    *first, last = words or [""]
    return f"{', '.join(first)} {link} {last}" if first else last


def unmet(*, approvals: str, owner: str, counted: str) -> str:
    """SQL for a guard: the condition that the approvals of a request can't meet its needs.

    `approvals` is the table, `owner` its column with the request's number, `counted` the condition on an approval `a`
    and its second factor `s`. Each group is counted, and all of them together. Beyond that who counts for which group
    only the desk can tell.
    """
    people = (
        f"(SELECT COUNT(DISTINCT a.person_id) FROM {approvals} a JOIN desk_stepup s ON s.id = a.confirmation_id "
        f"AND s.person_id = a.person_id AND s.digest = a.digest WHERE a.{owner} = NEW.id AND a.digest = NEW.digest "
        f"AND a.verdict = 'approve' AND a.person_id <> NEW.initiator_id AND {counted} AND a.person_id IN (SELECT "
        "CAST(m.value AS INTEGER) FROM {members}))"
    )
    count = "CAST({item}(e.value, '{at}1{end}') AS INTEGER)"
    members = "{items}({item}(e.value, '{at}2{end}')) m"
    of_need = people.replace("{members}", members)
    of_all = people.replace("{members}", "{items}(NEW.group_needs) e, " + members)
    return (
        f"(EXISTS (SELECT 1 FROM {{items}}(NEW.group_needs) e WHERE {of_need} < {count}) "
        f"OR {of_all} < (SELECT COALESCE(SUM({count}), 0) FROM {{items}}(NEW.group_needs) e))"
    )
