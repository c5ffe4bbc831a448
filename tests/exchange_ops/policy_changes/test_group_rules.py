"""Approval groups in the rules: what is wrong or questionable about them, how two versions differ, and the pages."""

import re
from dataclasses import replace
from decimal import Decimal

import pytest

from exchange_ops.policy import comparison, ruleset
from exchange_ops.policy.groups import checking as group_rules
from exchange_ops.policy.groups.needs import Group
from exchange_ops.policy.payout_rules import PayoutRule
from exchange_ops.policy_changes import workflow
from exchange_ops.policy_changes.models import PolicyChange
from tests.exchange_ops.policy_changes.keeping import FIRST
from tests.exchange_ops.policy_changes.test_pages import code, people, text, typed

__all__ = ["people", "typed"]  # fixtures
NAMES = {"person:1": "ann"}
NOBODY = "The tier up to 10,000 USD: nobody can approve payouts from desk"

GROUPED = replace(
    FIRST,
    tiers=(replace(FIRST.tiers[0], needs=(("Board", 1),)), *FIRST.tiers[1:]),
    groups=(Group("Board", (1, 2)), Group("Finance", (3,))),
)


def with_first(**changes):
    return replace(GROUPED, tiers=(replace(GROUPED.tiers[0], **changes), *GROUPED.tiers[1:]))


def members(*numbers):
    return replace(GROUPED, groups=(Group("Board", numbers), GROUPED.groups[1]))


def said(new, old):
    changes = comparison.differences(old, new, names=NAMES)
    return [("looser" if each.is_looser else "tighter", each.sentence) for each in changes]


@pytest.mark.parametrize(
    ("old", "new", "sentence", "is_looser"),
    [
        (FIRST, GROUPED, "Up to 10,000 USD: approvals of groups: 1 of Board (was no group).", False),
        (FIRST, GROUPED, "New approval group Board: ann, person 2.", False),
        (GROUPED, with_first(needs=()), "Up to 10,000 USD: approvals of groups: no group (was 1 of Board).", True),
        (
            GROUPED,
            with_first(needs=(("Board", 1), ("Finance", 1)), approvals=2),
            "Up to 10,000 USD: approvals of groups: 1 of Board and 1 of Finance (was 1 of Board).",
            False,
        ),
        (
            with_first(needs=(("Board", 2),), approvals=2),
            with_first(approvals=2),
            "Up to 10,000 USD: approvals of groups: 1 of Board (was 2 of Board).",
            True,
        ),
        (
            GROUPED,
            with_first(needs=(("Finance", 1),)),
            "Up to 10,000 USD: approvals of groups: 1 of Finance (was 1 of Board).",
            True,
        ),
        (GROUPED, members(1, 2, 3), "Approval group Board: person 3 added.", True),
        (GROUPED, members(2), "Approval group Board: ann removed.", False),
        (with_first(needs=()), replace(with_first(needs=()), groups=()), "Removed: approval group Board.", False),
    ],
)
def test_fewer_needs_and_more_members_are_looser(old, new, sentence, is_looser):
    looser = {each.sentence: each.is_looser for each in comparison.differences(old, new, names=NAMES)}
    assert looser.get(sentence) == is_looser, looser


def test_a_payout_rule_that_needs_no_group_any_more_is_looser():
    rule = PayoutRule("total", Decimal(50_000), 24, approvals=2, needs=(("Board", 1),))
    old, new = (replace(GROUPED, payouts=(each,)) for each in (rule, replace(rule, needs=())))
    assert said(new, old) == [
        ("looser", "Payouts: total value in 24 hours above 50,000 USD: 2 approvals required (was: total value in 24 "
         "hours above 50,000 USD: 2 approvals required (1 of Board)).")
    ]  # fmt: skip


def test_groups_and_needs_are_the_same_rules_after_json_and_decide_on_the_account():
    assert ruleset.from_json(ruleset.as_json(GROUPED)) == GROUPED
    assert ruleset.judging(FIRST, 1) == ruleset.judging(replace(FIRST, groups=GROUPED.groups), 1), "not needed there"
    assert ruleset.judging(GROUPED, 1) != ruleset.judging(members(1, 2, 3), 1)
    assert ruleset.concerned(GROUPED, members(2)) == {""}


@pytest.mark.parametrize(
    ("odd", "sentence"),
    [
        (
            with_first(needs=(("Legal", 1),)),
            "The tier up to 10,000 USD: there is no approval group",
        ),
        (with_first(needs=(("Board", 1), ("Finance", 1))), "require at least 2 approvals"),
        (replace(GROUPED, groups=(*GROUPED.groups, Group("board", ()))), "have the same name"),
        (replace(GROUPED, groups=(Group("Bo\u202eard", ()),)), "up to 40 visible characters"),
        (replace(GROUPED, groups=(*GROUPED.groups, Group("A, B", ()))), "can't contain a comma"),
        (members(2, 2), "choose each person once"),
    ],
)
def test_groups_that_nobody_could_mean_are_refused(odd, sentence):
    assert any(sentence in problem for problem in ruleset.problems(odd)), [*ruleset.problems(odd)]
    assert list(ruleset.problems(GROUPED)) == []


@pytest.mark.parametrize(
    ("rules", "approvers", "sentence"),
    [
        (members(), {1: {1, 2, 3}}, "Approval group Board has no members."),
        (members(), {1: {1, 2, 3}}, NOBODY + ", because nobody can give 1 of Board."),
        (members(1), {1: {1, 2, 3}}, NOBODY + " that are requested by ann."),
        (GROUPED, {1: {1, 2, 3}}, "Approval group Finance is not used by any tier or payout rule."),
        (members(1, 9), {1: {1, 2, 3}}, "Approval group Board: person 9 can no longer sign in."),
        (members(1, 2), {1: {1, 3}}, "Approval group Board: person 2 can't approve payouts from any account."),
    ],
)  # fmt: skip
def test_what_is_questionable_about_groups(rules, approvers, sentence):
    names = {"person:1": "ann", "account:1": "desk"}
    hints = group_rules.lint(
        rules.groups, ruleset.demands(rules), approvers=approvers, requesters={1: {1, 7}}, active={1, 2, 3}, names=names
    )
    assert sentence in [*hints]


# The pages -----------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_groups_are_typed_reviewed_published_and_shown(signed_in, people, typed):
    """A second person puts them in force; whoever is added later makes it looser, which waits for a day."""
    ada, ben = (signed_in(person) for person in people)
    first, second = (person.pk for person in people)
    fields = typed | {"t0-needs": "1 of board, 1 Finance", "g0-name": "Board", f"g0-member-{first}": "on"}
    assert "there is no approval group with the name Finance" in text(ada.post("/policy/draft/", fields))
    fields |= {"g1-name": " Finance ", f"g1-member-{second}": "on"}
    reviewed = ada.post("/policy/draft/", fields)
    for sentence in (
        "Up to 10,000 USD: approvals of groups: 1 of Board and 1 of Finance (was no group).",
        "New approval group Board: ada.",
        "New approval group Finance: ben.",
        "This does not loosen any limit",
    ):
        assert sentence in text(reviewed)
    digest = re.search(r'name="digest" value="([0-9a-f]{64})"', reviewed.content.decode())[1]
    confirmed = {"confirmed": "on", "digest": digest, "code": code()}
    assert ada.post("/policy/draft/", fields | confirmed).status_code == 302
    change = PolicyChange.objects.get()
    assert ben.post(f"/policy/changes/{change.pk}/agree/", {"digest": change.digest, "code": code()}).status_code == 302
    in_force = workflow.in_force()
    assert in_force.groups == (Group("Board", (first,)), Group("Finance", (second,)))
    assert in_force.tiers[0].needs == (("Board", 1), ("Finance", 1))
    page = text(ada.get("/policy/"))
    assert "2 ( 1 of Board and 1 of Finance )" in page
    assert "Board : ada" in page
    editor = ada.get("/policy/draft/").content.decode()
    assert 'value="1 of Board, 1 of Finance"' in editor
    assert re.search(rf'name="g0-member-{first}"[^>]*checked', editor)
    more = text(ada.post("/policy/draft/", fields | {f"g0-member-{second}": "on"}))
    assert "Looser Approval group Board: ben added." in more


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"t0-needs": "0 of Board", "g0-name": "Board"}, "Tier 1, of groups: Require at least 1 approval of a group"),
        ({"t0-needs": "Board; 2 of Board", "g0-name": "Board"}, "Board is named twice"),
        ({"g0-name": "Board\u200b"}, "enter a name of up to 40 visible characters"),
        ({"g0-member-{first}": "on"}, "Approval group 1, name: Enter a name, or untick everybody"),
        ({"above-approvals": "", "above-needs": "1 of Board", "g0-name": "Board"}, "A tier must require 1 to 9"),
    ],
)
def test_what_is_typed_wrong_is_said(signed_in, people, typed, fields, sentence):
    named = {name.replace("{first}", str(people[0].pk)): value for name, value in fields.items()}
    page = signed_in(people[0]).post("/policy/draft/", typed | named)
    assert (page.status_code, sentence in text(page)) == (422, True), text(page)
