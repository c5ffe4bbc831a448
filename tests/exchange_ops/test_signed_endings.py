"""What is typed or chosen with an ending is signed: a field that is changed after the signature fits it no more."""

import pytest

from desk import clock
from desk.people import stepup
from desk.people.signing import signed_fields
from desk.people.stepup import CannotConfirm
from exchange_ops.policy import freezes
from exchange_ops.policy.models import ThawVote
from exchange_ops.transfers import endings
from exchange_ops.transfers import machine as transfers
from exchange_ops.transfers.models import Transfer, TransferApproval
from exchange_ops.withdrawals.decisions import open_holds
from exchange_ops.withdrawals.models import HoldReleaseVote
from tests.desk.authenticator import SoftKey
from tests.exchange_ops.withdrawals.decisions.test_open_holds import forgotten, order
from tests.exchange_ops.withdrawals.walks import SESSION

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("money: two people")]
__all__ = ["forgotten"]

REASON = "Looked at the exchange's own page"


def signature(person, purpose, digest, **fields):
    """The passkey's answer for a form with these fields."""
    key, signed_digest = SoftKey(), signed_fields.bind(digest, fields)
    key.enrol(person)
    terms = {"purpose": purpose, "digest": signed_digest, "session_key": SESSION, "now": clock.now()}
    return key.answer(stepup.challenge(person=person, **terms))


@pytest.mark.parametrize(("act", "purpose"), [("close", "close-transfer"), ("reissue", "reissue-transfer")])
def test_the_reason_for_closing_a_transfer_is_signed(moving, act, purpose):
    row, person = moving.not_seen(), moving.walk.approvers[0]
    answer = signature(person, purpose, endings.digest_of(row), comment=REASON)
    with pytest.raises(CannotConfirm, match="does not match the page"):
        moving.end(act, row, person, answer=answer, reason="Another reason")
    assert (moving.fresh(row).state, Transfer.objects.count()) == ("not_seen", 1)
    moving.end(act, row, person, answer=answer, reason=REASON)
    assert moving.fresh(row).state == "closed"


@pytest.mark.parametrize("changes", [{"verdict": "not_moved"}, {"evidence": "Another statement"}])
def test_a_finding_on_a_transfer_is_signed(moving, changes):
    row, person = moving.not_seen(), moving.walk.approvers[0]
    row = transfers.move(row, event="appeared_late", to="investigate", now=clock.now(), next_action_at=None)
    terms = {"verdict": "moved", "evidence": REASON}
    answer = signature(person, endings.RESOLVE_PURPOSE, endings.digest_of(row), verdict="moved", comment=REASON)
    with pytest.raises(CannotConfirm, match="does not match the page"):
        moving.end("resolve", row, person, answer=answer, **(terms | changes))
    assert not TransferApproval.objects.filter(stage="resolution").exists()
    moving.end("resolve", row, person, answer=answer, **terms)
    assert TransferApproval.objects.filter(stage="resolution").count() == 1


def test_the_reason_for_releasing_a_hold_is_signed(walk, forgotten):
    row, person = walk.fresh(forgotten), walk.approvers[0]
    answer = signature(person, open_holds.PURPOSE, open_holds.digest_of(row), comment=REASON)
    with pytest.raises(CannotConfirm, match="does not match the page"):
        order(walk, row, person, answer=answer, reason="Another reason")
    assert not HoldReleaseVote.objects.exists()
    order(walk, row, person, answer=answer, reason=REASON)
    assert HoldReleaseVote.objects.count() == 1


def test_the_reason_for_lifting_a_freeze_is_signed(walk):
    frozen = freezes.freeze(person=None, reason="A drill", account=walk.account, now=clock.now())
    person = walk.approvers[0]
    answer = signature(person, freezes.PURPOSE, freezes.digest_of(frozen), comment=REASON)
    terms = {"freeze_id": frozen.pk, "person": person, "answer": answer, "session_key": SESSION, "now": clock.now()}
    with pytest.raises(CannotConfirm, match="does not match the page"):
        freezes.thaw(reason="Another reason", **terms)
    assert not ThawVote.objects.exists()
    freezes.thaw(reason=REASON, **terms)
    assert ThawVote.objects.count() == 1


def test_no_new_vote_is_taken_under_a_signature_without_its_reason(walk, forgotten):
    """Earlier votes of that form count where they are stored (`test_upgraded_votes`); none is accepted any more."""
    row, person = walk.fresh(forgotten), walk.approvers[0]
    answer = signature(person, open_holds.PURPOSE, open_holds.digest_of(row))
    with pytest.raises(CannotConfirm, match="does not match the page"):
        order(walk, row, person, answer=answer, reason=REASON)
    frozen = freezes.freeze(person=None, reason="A drill", account=walk.account, now=clock.now())
    answer = signature(walk.approvers[1], freezes.PURPOSE, freezes.digest_of(frozen))
    terms = {"freeze_id": frozen.pk, "person": walk.approvers[1], "session_key": SESSION, "now": clock.now()}
    with pytest.raises(CannotConfirm, match="does not match the page"):
        freezes.thaw(reason=REASON, answer=answer, **terms)
    assert (ThawVote.objects.count(), HoldReleaseVote.objects.count()) == (0, 0)
