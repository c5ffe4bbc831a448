"""One second factor for a list: for exactly this list in this order, and each place proves one decision, once."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations, permutations
from typing import Any

import pytest
from django.db import transaction
from hypothesis import given
from hypothesis import strategies as st

from desk import audit_check
from desk.models import Person, StepUp
from desk.people import code_limits, stepup, totp
from desk.people.signing import signed_lists
from desk.people.signing.signed_lists import APPROVE, REJECT, Decision, Place
from tests.desk.authenticator import SoftKey
from tests.desk.people.conftest import SECRET

NOW = datetime(2026, 11, 20, 12, 0, 5, tzinfo=UTC)
SESSION = "session-of-treasury"
PURPOSE = "approve-withdrawal"
THREE = [
    Decision("withdrawal:1", PURPOSE, "a1" * 32, APPROVE),
    Decision("withdrawal:2", PURPOSE, "b2" * 32, REJECT, "Not ours"),
    Decision("transfer:3", "approve-transfer", "c3" * 32, APPROVE),
]

TEXTS = st.text(max_size=12)
DECISIONS = st.builds(
    Decision, TEXTS, TEXTS, TEXTS, st.sampled_from([APPROVE, REJECT]), TEXTS
)  # also what no page sends: the digest tells any two lists apart
LISTS = st.lists(DECISIONS, min_size=1, max_size=5)
MEMBERS = ("subject", "purpose", "digest", "verdict", "comment")


@given(LISTS, LISTS)
def test_two_lists_have_one_digest_only_when_they_are_the_same(first: list[Decision], second: list[Decision]) -> None:
    same = digest(first) == digest(second)
    assert same == (first == second)


@given(LISTS, st.data())
def test_whatever_is_changed_in_a_list_makes_another_digest(decisions: list[Decision], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(decisions) - 1))
    name = data.draw(st.sampled_from(MEMBERS))
    changed = replace(decisions[at], **{name: getattr(decisions[at], name) + "x"})
    others = [
        [*decisions[:at], changed, *decisions[at + 1 :]],
        [*decisions[:at], *decisions[at + 1 :]],
        [*decisions, decisions[at]],
        [Decision("x", "", "", APPROVE), *decisions],
    ]
    assert digest(decisions) not in {digest(other) for other in others}


def test_every_order_and_every_part_of_a_list_is_another_list() -> None:
    orders = [digest(order) for size in (1, 2, 3) for part in combinations(THREE, size) for order in permutations(part)]
    assert len(set(orders)) == len(orders) == 15


# What is stored -------------------------------------------------------------------------------------------------------


@pytest.fixture
def sign(person: Person) -> Callable[..., StepUp]:
    """Sign these decisions as a request would, with a one-time code unless another answer is given."""

    def call(decisions: list[Decision], answer: Any = None, **changes: Any) -> StepUp:
        text = signed_lists.text_of(decisions)
        arguments: dict[str, Any] = {"purpose": signed_lists.PURPOSE, "digest": signed_lists.digest_of(text)}
        arguments |= {"person": person, "session_key": SESSION, "now": NOW, "listed": text}
        arguments["answer"] = answer or {"kind": "totp", "code": totp.code_at(SECRET, totp.step_at(NOW))}
        with code_limits.collecting(), transaction.atomic():
            return stepup.verify(**(arguments | changes))

    return call


@pytest.fixture
def prove(person: Person) -> Callable[..., StepUp]:
    """Use a place of a signed list as the second factor of one decision."""

    def call(signature: StepUp, position: int, decision: Decision, **changes: Any) -> StepUp:
        arguments: dict[str, Any] = {"person": person, "purpose": decision.purpose, "digest": decision.digest}
        arguments |= {"answer": Place(signature, position).answer, "session_key": SESSION, "now": NOW}
        with transaction.atomic():
            return stepup.verify(**(arguments | changes))

    return call


database = pytest.mark.django_db(transaction=True)


@database
def test_a_place_proves_its_approval_once_and_is_proven_later(sign: Any, prove: Any, person: Person) -> None:
    signature = sign(THREE)
    first, third = prove(signature, 0, THREE[0]), prove(signature, 2, THREE[2], now=NOW + timedelta(seconds=119))
    for row, decision in ((first, THREE[0]), (third, THREE[2])):
        kept = StepUp.objects.get(pk=row.pk)
        assert stepup.proves(kept, person_id=person.pk, purpose=decision.purpose, digests={decision.digest})
        assert kept.factor == "totp"
        assert kept.evidence()["signed_list"] == signature.evidence()
    with pytest.raises(stepup.CannotConfirm, match="already been used"):
        prove(signature, 0, THREE[0])
    assert audit_check.verify() == []


@database
@pytest.mark.parametrize(
    ("position", "decision", "changes"),
    [
        (1, THREE[0], {}),
        (3, THREE[0], {}),
        (0, replace(THREE[0], digest="d4" * 32), {}),
        (0, replace(THREE[0], purpose="approve-order"), {}),
        (1, THREE[1], {}),
        (0, THREE[0], {"session_key": "another session"}),
        (0, THREE[0], {"now": NOW + timedelta(seconds=121)}),
        (0, THREE[0], {"now": NOW - timedelta(seconds=1)}),
    ],
    ids=["place of another", "no such place", "digest", "purpose", "rejection", "session", "too late", "too early"],
)
def test_a_place_proves_nothing_else(sign: Any, prove: Any, position: int, decision: Any, changes: Any) -> None:
    signature = sign(THREE)
    with pytest.raises(stepup.CannotConfirm, match="The content differs from what you confirmed"):
        prove(signature, position, decision, **changes)
    assert StepUp.objects.count() == 1


@database
def test_nobody_else_uses_a_list_and_no_form_names_one(sign: Any, prove: Any, make_person: Any) -> None:
    signature = sign(THREE)
    with pytest.raises(stepup.CannotConfirm):
        prove(signature, 0, THREE[0], person=make_person("treasury", username="other"))
    for forged in ({"kind": "list", "place": [signature.pk, 0]}, {"kind": "list", "signed_with": signature.pk}):
        with pytest.raises(stepup.CannotConfirm, match="Confirm with a passkey"):
            prove(signature, 0, THREE[0], answer=forged)


@database
def test_a_passkey_signs_one_order_of_one_list(sign: Any, prove: Any, key: SoftKey, person: Person) -> None:
    terms: dict[str, Any] = {"person": person, "purpose": signed_lists.PURPOSE, "session_key": SESSION, "now": NOW}
    answer = key.answer(stepup.challenge(digest=digest(THREE), **terms))
    lists = [list(order) for order in permutations(THREE) if list(order) != THREE]
    lists += [list(part) for part in combinations(THREE, 2)]
    lists += [[replace(THREE[0], verdict=REJECT), *THREE[1:]], [THREE[0], replace(THREE[1], comment="x"), THREE[2]]]
    for other in lists:
        with pytest.raises(stepup.CannotConfirm, match="does not match the page"):
            sign(other, answer)
    signature = sign(THREE, answer)
    with pytest.raises(stepup.CannotConfirm, match="already been used"):
        sign(THREE, answer)
    row = prove(signature, 0, THREE[0])
    assert row.factor == "passkey"
    assert stepup.is_genuine(StepUp.objects.get(pk=row.pk))
    assert audit_check.verify() == []


@database
@pytest.mark.parametrize("column", ["listed", "position", "digest", "signature's digest"])
def test_a_list_that_was_changed_in_the_database_proves_nothing_and_is_named(
    sign: Any, prove: Any, column: str
) -> None:
    signature = sign(THREE)
    row = prove(signature, 0, THREE[0])
    other = signed_lists.text_of([replace(THREE[0], digest="d4" * 32), *THREE[1:]])
    if column == "listed":
        StepUp.objects.filter(pk=signature.pk).update(listed=other)
    elif column == "position":
        StepUp.objects.filter(pk=row.pk).update(position=2)
    elif column == "digest":
        StepUp.objects.filter(pk=row.pk).update(digest="d4" * 32)
    else:
        StepUp.objects.filter(pk=signature.pk).update(listed=other, digest=signed_lists.digest_of(other))
    assert not stepup.is_genuine(StepUp.objects.get(pk=row.pk))
    assert any("is not in the list that was signed" in finding for finding in audit_check.verify())


@database
def test_the_content_of_a_single_decision_is_what_earlier_versions_made(person: Person) -> None:
    code = {"kind": "totp", "code": totp.code_at(SECRET, totp.step_at(NOW))}
    with transaction.atomic():
        row = stepup.verify(person=person, purpose=PURPOSE, digest="ab" * 32, answer=code, session_key=SESSION, now=NOW)
    assert b"listed" not in row.content
    assert b"signed_with" not in row.content
    assert b"position" not in row.content


def digest(decisions: Any) -> str:
    return signed_lists.digest_of(signed_lists.text_of(list(decisions)))
