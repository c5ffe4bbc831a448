"""What is wrong or questionable about the approval groups of a version of the rules, and how two versions differ."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from desk.invisible import revealed
from exchange_ops.policy.groups import needs as group_needs
from exchange_ops.policy.groups.needs import Group, Needs, Tally

MOST_GROUPS: Final = 20
MOST_MEMBERS: Final = 50
LONGEST_NAME: Final = 40
_SEPARATORS: Final = ",;"  # they stand between the needs of a tier or rule


@dataclass(frozen=True, slots=True)
class Demand:
    """What one tier or rule for payouts asks for. `where` is its name in a sentence.

    Without an account it is of every account but `others`.
    """

    where: str
    account: int | None
    approvals: int
    needs: Needs
    others: frozenset[int] = frozenset()


def problems(groups: Sequence[Group], demands: Sequence[Demand]) -> Iterator[str]:
    """What is wrong with the groups and with what is demanded of them, one sentence each."""
    if len(groups) > MOST_GROUPS:
        yield f"Enter at most {MOST_GROUPS} approval groups."
    names = [group.name.casefold() for group in groups]
    if len({*names}) != len(names):
        yield "Two approval groups have the same name. Change or remove one."
    for number, group in enumerate(groups, 1):
        if (wrong := _wrong_name(group.name)) != "":
            yield f"Approval group {number}: {wrong}"
        if len(group.members) > MOST_MEMBERS or [*group.members] != sorted({*group.members}):
            yield f"Approval group {number}: choose each person once, at most {MOST_MEMBERS} people."
    for each in demands:
        if (wrong := _wrong_needs(each.needs, each.approvals, groups)) != "":
            yield f"{each.where}: {wrong}"


def _wrong_name(name: str) -> str:
    if name != " ".join(name.split()) or not 0 < len(name) <= LONGEST_NAME or revealed(name) != name:
        return f"enter a name of up to {LONGEST_NAME} visible characters."
    if any(separator in name for separator in _SEPARATORS):
        return "a name can't contain a comma or a semicolon."
    return ""


def _wrong_needs(needs: Needs, approvals: int, groups: Iterable[Group]) -> str:
    names = [name for name, _ in needs]
    if unknown := {*names} - {group.name for group in groups}:
        return f"there is no approval group with the name {', '.join(sorted(unknown))}."
    if names != sorted({*names}) or any(count < 1 for _, count in needs):
        return "name each group once, with at least 1 approval."
    if needs and not approvals:
        return "a rejection has no approvals of groups."
    if (total := group_needs.total(needs)) > approvals:
        return f"require at least {total} approvals: {group_needs.in_words(needs)} make {total}."
    return ""


def differences(old: Sequence[Group], new: Sequence[Group], *, names: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    """How the groups differ: sentences, each with whether it is looser. Only a new member of a group is.

    What a new group may do, and what was needed of one that is gone, is told by the tiers and rules that name it.
    `names` maps person:1 to what they are called.
    """
    before, after = ({group.name: group.members for group in groups} for groups in (old, new))
    for name in sorted({*before, *after}):
        if name not in before:
            yield f"New approval group {name}: {people(after[name], names) or 'nobody'}.", False
        elif name not in after:
            yield f"Removed: approval group {name}.", False
        else:
            joined, removed = {*after[name]} - {*before[name]}, {*before[name]} - {*after[name]}
            if joined:
                yield f"Approval group {name}: {people(joined, names)} added.", True
            if removed:
                yield f"Approval group {name}: {people(removed, names)} removed.", False


def people(members: Iterable[int], names: Mapping[str, str]) -> str:
    """The members by name, in the order of their names."""
    return ", ".join(sorted(names.get(f"person:{member}", f"person {member}") for member in members))


def lint(
    groups: Sequence[Group],
    demands: Sequence[Demand],
    *,
    approvers: Mapping[int, Collection[int]],
    requesters: Mapping[int, Collection[int]],
    active: Collection[int],
    names: Mapping[str, str],
) -> Iterator[str]:
    """Groups that nobody uses, members whose approval can't count, and needs that can't be met; it forbids nothing.

    `approvers` and `requesters` are the people who can approve and request at each account, `active` everybody who can
    sign in.
    """
    used = {name for each in demands for name, _ in each.needs}
    anywhere = {person for each in approvers.values() for person in each}
    for group in groups:
        if not group.members:
            yield f"Approval group {group.name} has no members."
        if gone := {*group.members} - {*active}:
            yield f"Approval group {group.name}: {people(gone, names)} can no longer sign in."
        if others := ({*group.members} & {*active}) - anywhere:
            yield f"Approval group {group.name}: {people(others, names)} can't approve payouts from any account."
        if group.name not in used:
            yield f"Approval group {group.name} is not used by any tier or payout rule."
    for each in demands:
        if each.needs:
            yield from _unmet(each, groups, approvers, requesters, names)


def _unmet(
    demand: Demand,
    groups: Sequence[Group],
    approvers: Mapping[int, Collection[int]],
    requesters: Mapping[int, Collection[int]],
    names: Mapping[str, str],
) -> Iterator[str]:
    """A sentence for each account whose people can't meet the needs, or can't once one of them is the requester."""
    needs = group_needs.resolved(demand.needs, groups)
    for account in sorted({*approvers} - demand.others) if demand.account is None else [demand.account]:
        able = frozenset(approvers.get(account, ()))
        where = (
            f"{demand.where}: nobody can approve payouts from {names.get(f'account:{account}', f'account {account}')}"
        )
        everybody = Tally(needs, demand.approvals, able)
        if not everybody.is_reached:
            missing = everybody.missing or f"{demand.approvals} approvals"
            yield f"{where}, because nobody can give {missing}."
            continue
        both = able & {*requesters.get(account, ())}
        if stuck := {one for one in both if not Tally(needs, demand.approvals, able - {one}).is_reached}:
            yield f"{where} that are requested by {people(stuck, names)}."
