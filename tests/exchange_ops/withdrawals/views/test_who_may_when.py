"""Every decision on a payout, by every role, in every state it waits in: what goes through; all else is refused."""

from datetime import UTC, datetime

import pytest

from desk import clock
from desk.people import roles, totp
from exchange_ops.withdrawals import mover
from exchange_ops.withdrawals.models import Withdrawal
from tests.exchange_ops import rows
from wire.values import Secret

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
INITIATOR = "initiator"
PEOPLE = (INITIATOR, *roles.ALL)


def unclear(person, *, now):
    row = rows.held(person, now=now)
    return mover.move(row, event="executed_without_us", to="investigate", now=now)


def committing(person, *, now):
    row = rows.held(person, now=now)
    return mover.move(row, event="quorum_reached", to="committing", now=now, decision="commit", decided_at=now)


STATES = {
    "draft": rows.requested,
    "review": lambda person, *, now: rows.submitted(person, to="review", now=now),
    "queued": rows.submitted,
    "held": rows.held,
    "committing": committing,
    "investigate": unclear,
    "rolled_back": rows.ended,
}
ACTIONS = ("approve", "reject", "cancel", "recall", "resolve", "release")
# Who gets through, by state and action: a word that counts, or a move. Nobody else, and nobody in a state not named.
GOES_THROUGH = {
    ("draft", "cancel"): {INITIATOR, roles.TREASURY},
    ("review", "approve"): {roles.TREASURY},
    ("review", "reject"): {roles.TREASURY},
    ("review", "cancel"): {INITIATOR},
    ("queued", "cancel"): {INITIATOR, roles.TREASURY},
    ("held", "approve"): {roles.TREASURY},
    ("held", "reject"): {roles.TREASURY},
    ("held", "cancel"): {INITIATOR},
    ("committing", "recall"): {roles.TREASURY},
    ("investigate", "resolve"): {roles.TREASURY},
}


def fields(row, digest):
    reasons = {f"{name}-reason": "Ours" for name in ("reject", "cancel", "recall")}
    code = totp.code_at(SECRET, totp.step_at(datetime.now(UTC)))
    return {"digest": digest or row.digest, "code": code, "comment": "Ours", "verdict": "not_paid", **reasons}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("action", ACTIONS)
def test_who_gets_through_in_which_state(state, action, make_person, signed_in):
    passed = set()
    for name in PEOPLE:
        role = roles.OPERATOR if name == INITIATOR else name
        person = make_person(role, username=f"a-{name}")
        totp.enrol(person, SECRET)
        asker = person if name == INITIATOR else make_person("operator", username=f"asked-{name}")
        row = STATES[state](asker, now=clock.now())
        assert row.state == state
        client = signed_in(person)
        page = client.get(f"/withdrawals/{row.pk}/").content.decode()
        digest = page.partition('name="digest" value="')[2][:64]
        answer = client.post(f"/withdrawals/{row.pk}/{action}/", fields(row, digest))
        now = Withdrawal.objects.get(pk=row.pk)
        if answer.status_code == 302:
            passed.add(name)
        else:
            assert answer.status_code in {403, 409, 422}
            assert (now.state, now.version, now.decision) == (row.state, row.version, row.decision)
            assert not now.approvals.exists()
    assert passed == GOES_THROUGH.get((state, action), set())
