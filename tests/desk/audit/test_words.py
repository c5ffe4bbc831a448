"""The audit trail in words: every kind of event has its sentence, which says who did what to which object."""

import ast
import re

import pytest
from django.apps import apps
from django.db import transaction

from desk import clock, rooms
from desk.audit import trail, words
from desk.lists.declared import LISTS
from desk.machines.mover import Unrecorded
from desk.machines.rows import Subject
from desk.models import FactorChange
from desk.notifications.delivering import MACHINE as DELIVERIES
from exchange_ops.subaccounts.models import SubAccountAction
from exchange_ops.subaccounts.states import KINDS
from tests.architecture import tree

BRACES = re.compile(r"{(\w+)}")
# Actions that are put together as they are recorded, by the text of the expression in the code.
COMPOSED = {
    "row.action(event)": [],  # moves of machines: `of_machines`
    "f'{export.name}.exported'": [],  # lists: `of_lists`
    "f'{name}.exported'": ["statements.exported", "journal.exported"],
    "f'{SUBJECT}.{action}'": ["thread.commented", "thread.attached", "thread.taken", "thread.put_back"],
    "f'payout_schedule.{occurrence.outcome}'": [
        f"payout_schedule.{each}" for each in ("requested", "refused", "missed")
    ],
    "f'channel.{action}'": ["channel.added", "channel.turned", "channel.ended"],
    "f'freeze.{action}'": ["freeze.begun", "freeze.thaw_agreed", "freeze.thawed"],
    "f'person.factor_{row.action}'": [f"person.factor_{each}" for each in FactorChange.Action.values],
}


def of_machines():
    """The action of every move of every machine that records its moves."""
    assert isinstance(DELIVERIES, Unrecorded)
    for model in apps.get_models():
        if not issubclass(model, Subject) or model is DELIVERIES.model:
            continue
        events = {move.event for move in model.table.moves}
        if model is SubAccountAction:
            yield from (f"{model.name}.{kind}_{event}" for kind in KINDS for event in events)
        else:
            yield from (f"{model.name}.{event}" for event in events)


def of_lists():
    return [f"{each.name}.exported" for each in LISTS.values()]


def constants(module):
    """The texts that a module names by constants, by their names."""
    for node in module.syntax.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and isinstance(getattr(node, "value", None), ast.Constant):
            yield target.id, node.value.value


def recorded(module):
    """The expression of the action in each call of the module that may write an event, and what it is set to before."""
    for node in ast.walk(module.syntax):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "action":
            yield from (
                each for each in ast.walk(node.value) if isinstance(each, ast.Constant) and "." in str(each.value)
            )
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name not in {"record", "_record"}:
            continue
        named = [keyword.value for keyword in node.keywords if keyword.arg == "action"]
        literal = [each for each in node.args if isinstance(each, ast.Constant) and "." in str(each.value)]
        yield from named or literal


def of_the_code():
    """Every action that the code writes besides the moves of machines, and the expressions that nothing explains."""
    actions, unexplained = set(), set()
    for module in tree.production():
        if module.parts[0] not in {"desk", "exchange_ops", "chaindata"}:
            continue
        names = dict(constants(module))
        for node in recorded(module):
            text = ast.unparse(node)
            if isinstance(node, ast.Constant):
                actions.add(node.value)
            elif isinstance(node, ast.Name) and node.id in names:
                actions.add(names[node.id])
            elif isinstance(node, ast.IfExp):
                actions |= {each.value for each in (node.body, node.orelse) if isinstance(each, ast.Constant)}
            elif text in COMPOSED:
                actions |= set(COMPOSED[text])
            elif text != "action":  # handed on by a helper, whose callers are read as well
                unexplained.add(f"{module.path}: {text}")
    return actions, unexplained


def test_every_kind_of_event_has_its_sentence():
    actions, unexplained = of_the_code()
    assert not unexplained, "name what these can be in COMPOSED"
    assert len(actions) > 35, "the search finds what it should"
    every = {*actions, *of_machines(), *of_lists()}
    assert not sorted(action for action in every if not words.template_of(action))


def test_no_sentence_is_of_a_kind_that_nothing_writes():
    actions, _ = of_the_code()
    every = {*actions, *of_machines()}
    declared = {f"{each.name}.{event}" for each in words.declared() for event in each.sentences}
    assert not sorted(declared - every)


def test_decisions_and_first_events_are_events_of_the_object():
    for each in words.declared():
        assert {*each.decisions, *each.first} <= each.sentences.keys(), each.name


def test_a_sentence_is_one_sentence_that_begins_with_who_did_it():
    for each in words.declared():
        for event, sentence in each.sentences.items():
            assert sentence.startswith("{who} "), (each.name, event)
            assert sentence.endswith((".", "{says}")), (each.name, event)
            parts = set(BRACES.findall(sentence))
            assert {"who"} <= parts <= {"who", "it", "says", "factor", "medium", "call", "state", "account"}


def test_names_and_marks_tell_objects_apart():
    names = [each.name for each in words.declared()]
    subjects = [each.subject_name for each in words.declared()]
    marks = [each.mark for each in words.declared() if each.mark]
    assert all(len(each) == len(set(each)) for each in (names, subjects, marks))


def test_every_object_whose_events_a_replay_compares_has_words():
    known = {each.subject_name for each in words.declared()}
    assert not {name for name in rooms.replays() if name not in known}


# What sentences say --------------------------------------------------------------------------------------------------


@pytest.fixture
def write(db, django_capture_on_commit_callbacks):
    """`write("order.asked", "order:1", actor, ...)` records one event and gives its sentence."""

    def record(action, subject, actor=None, **after):
        with transaction.atomic():
            event = trail.record(actor=actor, action=action, subject=subject, before={}, after=after, now=clock.now())
        return words.telling([event], lists={"withdrawals": "Payouts"}).sentence(event)

    return record


ADDRESS = "bc1qxy2kgdygjrsqtzq2n0yrf2493p83kkfjhxf3t4"


def test_a_request_says_the_amount_and_the_ends_of_the_address(write, make_person):
    olga = make_person("operator", username="Olga")
    request = write("withdrawal.created", "withdrawal:2", olga, amount="0.030000", currency="BTC", address=ADDRESS)
    assert request == "Olga requested payout W-2: 0.03 BTC to bc1q…f3t4."


def test_later_events_take_the_content_from_the_first_one(write, make_person):
    petra = make_person("treasury", username="Petra")
    write("withdrawal.created", "withdrawal:2", None, amount="5", currency="ETH", address="0xabc")
    assert write("withdrawal.rejected", "withdrawal:2", petra) == "Petra rejected payout W-2: 5 ETH to 0xabc."
    assert write("thread.commented", "thread:withdrawal:2", petra) == "Petra commented on payout W-2: 5 ETH to 0xabc."


def test_what_no_person_did_was_done_by_the_system(write):
    assert write("order.claimed", "order:7") == "System sent order O-7 to the exchange."


def test_a_kind_that_is_not_declared_any_more_is_named_as_it_was_recorded(write):
    assert write("order.danced", "order:7") == "System recorded “order.danced” on order O-7."


def test_braces_in_what_people_wrote_are_text(write):
    said = write("policychange.proposed", "policychange:1", None, reason="{who} {0} {it.x}")
    assert said == "System proposed rule change R-1: {who} {0} {it.x}."


def test_people_are_named_and_a_fact_that_is_missing_is_a_dash(write, make_person):
    anna = make_person("admin", username="Anna")
    assert write("person.factor_added", f"person:{anna.pk}", anna) == "Anna added a second factor for Anna: –."
    assert write("withdrawals.exported", "withdrawals", anna) == "Anna exported the list “Payouts”."


def test_an_object_is_found_by_what_people_call_it():
    assert words.subjects_named(" w-2 ") == ["withdrawal:2", "thread:withdrawal:2", "evidence:2"]
    assert words.subjects_named("I-5") == ["incident:5", "thread:incident:5", "closing:5"]
    assert words.subjects_named("order:7")[0] == "order:7"
    assert words.subjects_named("nothing") == []
    assert (words.name_of("thread:withdrawal:2"), words.name_of("person:3")) == ("W-2", "person:3")
