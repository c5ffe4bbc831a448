"""No forged approval ever pays: who can write every table, but has no key, finds no way to a quorum, and is named."""

import hashlib
import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import IntegrityError, connection, transaction
from fido2 import cbor
from fido2.cose import ES256
from fido2.utils import websafe_encode

from desk import audit_check, clock
from desk.models import StepUp
from desk.people import stepup, totp
from exchange_ops.policy import freezes
from exchange_ops.policy.models import Freeze, PolicyVersion, QuorumTier, ThawVote
from exchange_ops.withdrawals.decisions import approvals, digest, resolutions
from exchange_ops.withdrawals.models import Approval, Withdrawal, WithdrawalEvent
from exchange_ops.withdrawals.request_checks import CannotRequest
from tests.desk.authenticator import SoftKey
from tests.exchange_ops.withdrawals.walks import TOTP_SECRET

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("guards: forged rows")]

TWO = Decimal("1")  # BTC, of which two people have to approve
THREE = Decimal("20")  # three, before anything is reserved


def sql(statement: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def disarm() -> None:
    """Take every trigger away; `tests.rows` puts them back."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            for (name,) in cursor.fetchall():
                cursor.execute(f'DROP TRIGGER "{name}"')
            return
        cursor.execute(
            "SELECT t.tgname, c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
            "JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE NOT t.tgisinternal AND n.nspname = current_schema()"
        )
        for name, table in cursor.fetchall():
            cursor.execute(f'DROP TRIGGER "{name}" ON "{table}"')


_INDEXES = {
    "sqlite": "SELECT sql, tbl_name FROM sqlite_master WHERE type = 'index' AND name = %s",
    "postgresql": "SELECT indexdef, tablename FROM pg_indexes WHERE schemaname = current_schema() AND indexname = %s",
}
_dropped: dict[str, tuple[str, str]] = {}


def drop_index(name: str) -> None:
    """Take away what keeps one second factor for one word, until the end of the test."""
    with connection.cursor() as cursor:
        cursor.execute(_INDEXES[connection.vendor], [name])
        _dropped[name] = cursor.fetchone()
        cursor.execute(f"DROP INDEX {name}")


@pytest.fixture(autouse=True)
def indexes(transactional_db: None) -> Iterator[None]:
    yield
    while _dropped:
        name, (statement, table) = _dropped.popitem()
        with connection.cursor() as cursor:
            cursor.execute(_INDEXES[connection.vendor], [name])
            if cursor.fetchone() is None:
                cursor.execute(f"DELETE FROM {table}")
                cursor.execute(statement)


def inserted(model: type[Any], **columns: Any) -> int:
    """A row written past the desk; its number."""
    number = (model._base_manager.order_by("-pk").values_list("pk", flat=True).first() or 0) + 1
    row = model(pk=number, **columns)
    fields = model._meta.concrete_fields
    names = ", ".join(f'"{field.column}"' for field in fields)
    values = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
    sql(f'INSERT INTO "{model._meta.db_table}" ({names}) VALUES ({", ".join(["%s"] * len(fields))})', *values)
    if connection.vendor == "postgresql":
        # The next row of the desk gets the number after this one, as if the database had numbered it itself.
        sql("SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", model._meta.db_table, number)
    return number


def copied(row: Any, **changes: Any) -> int:
    """A copy of a row, with other columns."""
    fields = [field.attname for field in row._meta.concrete_fields if not field.primary_key]
    return inserted(type(row), **({name: getattr(row, name) for name in fields} | changes))


def word(row: Withdrawal, person: Any, confirmation: int, **changes: Any) -> int:
    columns: dict[str, Any] = {
        "withdrawal_id": row.pk,
        "initiator_id": row.initiator_id,
        "person_id": person.pk,
        "digest": row.digest,
        "stage": approvals.stage_of(row),
        "verdict": Approval.APPROVE,
        "confirmation_id": confirmation,
        "at": StepUp.objects.get(pk=confirmation).at,
    }
    return inserted(Approval, **(columns | changes))


# Each takes the desk, the row with its one real approval, and forges the second one.


def borrowed_step_up(walk: Any, row: Withdrawal, real: StepUp) -> None:
    drop_index("approval_one_per_second_factor")
    word(row, walk.approvers[1], real.pk)


def copied_code(walk: Any, row: Withdrawal, real: StepUp) -> None:
    word(row, walk.approvers[1], copied(real, person_id=walk.approvers[1].pk))


def own_code(walk: Any, row: Withdrawal, real: StepUp) -> None:
    mac = f"{real.mac.partition(':')[0]}:{'0' * 64}"
    word(row, walk.approvers[1], copied(real, person_id=walk.approvers[1].pk, mac=mac))


def no_code(walk: Any, row: Withdrawal, real: StepUp) -> None:
    word(row, walk.approvers[1], copied(real, person_id=walk.approvers[1].pk, mac=None))


def other_purpose(walk: Any, row: Withdrawal, real: StepUp) -> None:
    word(row, walk.approvers[1], genuine(walk, purpose="thaw-freeze", digest=row.digest))


def other_purpose_rewritten(walk: Any, row: Withdrawal, real: StepUp) -> None:
    number = genuine(walk, purpose="thaw-freeze", digest=row.digest)
    sql("UPDATE desk_stepup SET purpose = %s WHERE id = %s", approvals.purpose_of(row), number)
    word(row, walk.approvers[1], number)


def other_digest(walk: Any, row: Withdrawal, real: StepUp) -> None:
    word(row, walk.approvers[1], genuine(walk, purpose=approvals.purpose_of(row), digest="ab" * 32))


def other_digest_rewritten(walk: Any, row: Withdrawal, real: StepUp) -> None:
    number = genuine(walk, purpose=approvals.purpose_of(row), digest="ab" * 32)
    sql("UPDATE desk_stepup SET digest = %s WHERE id = %s", row.digest, number)
    word(row, walk.approvers[1], number)


def re_pointed_person(walk: Any, row: Withdrawal, real: StepUp) -> None:
    number = word(row, walk.approvers[2], copied(real, totp_step=1))
    sql("UPDATE exchange_ops_approval SET person_id = %s WHERE id = %s", walk.approvers[1].pk, number)
    sql("UPDATE desk_stepup SET person_id = %s WHERE totp_step = 1", walk.approvers[1].pk)


def made_up_passkey(walk: Any, row: Withdrawal, real: StepUp) -> None:
    """A key of the forger's own signs exactly what the person would have signed."""
    person, soft_key, nonce = walk.approvers[1], SoftKey(), "cd" * 32
    content = stepup._signed_content(
        nonce=nonce, digest=row.digest, purpose=approvals.purpose_of(row), audit_head=real.audit_head
    )
    challenge = websafe_encode(content)
    answer = soft_key.answer({"publicKey": {"challenge": challenge}})["credential"]["response"]
    public_key = cbor.encode(ES256.from_cryptography_key(soft_key.private.public_key()))
    number = copied(
        real,
        person_id=person.pk,
        kind="passkey",
        totp_step=None,
        credential_id="bWFkZS11cA",
        public_key=websafe_encode(public_key),
        nonce=nonce,
        challenge=challenge,
        client_data=answer["clientDataJSON"],
        authenticator_data=answer["authenticatorData"],
        signature=answer["signature"],
        sign_count=1,
    )
    kept = StepUp.objects.get(pk=number)
    assert stepup.signature_holds(kept), "the forger's signature is right, only the key is not the person's"
    word(row, person, number)


FORGERIES = [
    borrowed_step_up,
    copied_code,
    own_code,
    no_code,
    other_purpose,
    other_purpose_rewritten,
    other_digest,
    other_digest_rewritten,
    re_pointed_person,
    made_up_passkey,
]


def genuine(walk: Any, *, purpose: str, digest: str, person: Any = None) -> int:
    """A second factor that this person, or else the second approver, really gave; the latter for something else."""
    person = person or walk.approvers[1]
    with transaction.atomic():
        return stepup.verify(
            person=person,
            purpose=purpose,
            digest=digest,
            answer=walk.answer(person),
            session_key="another session",
            now=clock.now(),
        ).pk


def half_approved(walk: Any) -> tuple[Withdrawal, StepUp]:
    row = walk.held(amount=TWO)
    assert row.quorum_required == 2
    walk.approve(row)
    return walk.fresh(row), StepUp.objects.get()


def decide(row: Withdrawal) -> None:
    """The decision itself, written past the desk: the event and the row, as the mover would write them."""
    now = clock.now()
    inserted(
        WithdrawalEvent,
        withdrawal_id=row.pk,
        version=row.version + 1,
        event="quorum_reached",
        from_state="held",
        to_state="committing",
        decision="commit",
        audit_number=1,
        at=now,
    )
    sql(
        "UPDATE exchange_ops_withdrawal SET state = 'committing', decision = 'commit', version = version + 1, "
        "decided_at = created_at, next_action_at = created_at WHERE id = %s",
        row.pk,
    )


def not_paid(walk: Any, row: Withdrawal) -> None:
    """The worker goes on, and the exchange is never told to pay."""
    for _ in range(4):
        row = walk.step(row)
    assert walk.calls("commit_withdrawal") == []
    assert row.put_count == 0


@pytest.mark.parametrize("forge", FORGERIES)
def test_a_forged_approval_does_not_count_and_is_named(walk: Any, forge: Callable[..., None]) -> None:
    row, real = half_approved(walk)
    assert audit_check.verify(replay=True) == []
    disarm()
    forge(walk, row, real)
    assert approvals.current(row).count() == 1
    assert any("exchange_ops.approval" in finding for finding in audit_check.verify(replay=True))
    assert any(finding.startswith("Approval ") for finding in audit_check.verify(replay=True)), (
        "counted by the replay too"
    )
    decide(row)
    not_paid(walk, row)
    row = walk.fresh(row)
    assert (row.state, row.decision) in {("rolling_back", "rollback"), ("rolled_back", "rollback")}
    assert "the approvals required by the policy are missing" in Freeze.objects.get().reason


@pytest.mark.parametrize("forge", FORGERIES)
def test_a_forged_approval_is_not_the_one_that_was_missing(walk: Any, forge: Callable[..., None]) -> None:
    row = walk.until(walk.request(amount=THREE), "review")
    assert row.quorum_required == 3
    people = walk.approvers
    walk.approve(row)
    real = StepUp.objects.get()
    disarm()
    forge(walk, walk.fresh(row), real)
    row = walk.approve(walk.fresh(row), people[2])
    assert (row.state, approvals.current(row).count()) == ("review", 2), "of three"


@pytest.mark.parametrize("forge", [borrowed_step_up, copied_code, other_purpose, other_digest])
def test_the_database_refuses_what_no_second_factor_is_for(walk: Any, forge: Callable[..., None]) -> None:
    row, real = half_approved(walk)
    if forge is copied_code:
        real.digest = "ef" * 32
    with pytest.raises(IntegrityError, match="second factor of this person"), transaction.atomic():
        forge(walk, row, real)


def test_an_approval_with_another_comment_than_was_signed_does_not_count_and_is_named(walk: Any) -> None:
    row = walk.held(amount=TWO)
    walk.approve(row, comment="Matches the invoice")
    row = walk.fresh(row)
    assert approvals.current(row).count() == 1
    assert audit_check.verify(replay=True) == []
    disarm()
    sql("UPDATE exchange_ops_approval SET comment = 'As agreed by phone'")
    assert approvals.current(row).count() == 0
    findings = audit_check.verify(replay=True)
    assert any(finding.startswith("Approval ") and "does not cover this action" in finding for finding in findings)


def test_an_own_approval_does_not_count_although_its_second_factor_is_genuine(walk: Any) -> None:
    """Whoever asked holds the role as well. The page and the database refuse them, and so does the counting itself."""
    row, _ = half_approved(walk)
    own = walk.operator
    own.groups.add(Group.objects.get(name="treasury"))
    totp.enrol(own, TOTP_SECRET)
    factor = genuine(walk, purpose=approvals.purpose_of(row), digest=row.digest, person=own)
    disarm()
    word(row, own, factor, initiator_id=walk.approvers[2].pk)
    assert [vote.person for vote in approvals.current(row)] == [walk.approvers[0]]
    assert [vote.person for vote in approvals.counting_by_row([row], Approval.RELEASE)[row.pk]] == [walk.approvers[0]]


def test_one_second_factor_is_for_one_word(walk: Any) -> None:
    row, real = half_approved(walk)
    with pytest.raises(IntegrityError), transaction.atomic():
        word(row, walk.approvers[0], real.pk, stage=Approval.REVIEW)


def test_a_quorum_made_smaller_has_no_digest(walk: Any) -> None:
    row, _ = half_approved(walk)
    disarm()
    sql("UPDATE exchange_ops_withdrawal SET quorum_required = 1 WHERE id = %s", row.pk)
    decide(walk.fresh(row))
    not_paid(walk, row)


def test_a_quorum_made_smaller_with_a_digest_of_the_forgers_own_is_not_approved(walk: Any) -> None:
    row = walk.held(amount=TWO)
    disarm()
    forged = walk.fresh(row)
    forged.quorum_required = 1
    content = digest._content(forged, freezes.latest_number(row.movement))
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    without_key = hashlib.sha256(text.encode()).hexdigest()
    sql("UPDATE exchange_ops_withdrawal SET quorum_required = 1, digest = %s WHERE id = %s", without_key, row.pk)
    with pytest.raises(approvals.CannotApprove, match="after you opened it"):
        walk.approve(row)
    not_paid(walk, row)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE exchange_ops_quorumtier SET approvals = 1",
        "UPDATE exchange_ops_quorumtier SET up_to = 999999999 WHERE approvals = 1",
        "DELETE FROM exchange_ops_quorumtier WHERE approvals > 1",
        "UPDATE exchange_ops_policyversion SET value_max_age_s = 999999",
    ],
)
def test_nothing_is_asked_for_under_rules_that_were_changed_past_the_desk(walk: Any, statement: str) -> None:
    disarm()
    sql(statement)
    with pytest.raises(CannotRequest, match="changed in the database, outside Countersign"):
        walk.request(amount=TWO)
    assert any("exchange_ops." in finding for finding in audit_check.verify(replay=True))


def test_rules_put_in_force_past_the_desk_are_not_followed(walk: Any) -> None:
    old = PolicyVersion.objects.get()
    policy = inserted(PolicyVersion, number=old.number + 1, published_at=clock.now())
    inserted(QuorumTier, policy_id=policy, approvals=1, mode="hold_then_approve")
    with pytest.raises(CannotRequest, match="changed in the database, outside Countersign"):
        walk.request(amount=TWO)


def test_a_forged_vote_ends_no_freeze(walk: Any) -> None:
    frozen = freezes.freeze(person=walk.approvers[0], reason="Looking", account=walk.account, now=clock.now())
    real = thaw(walk, frozen, walk.approvers[0])
    assert real.thawed_at is None
    confirmation = StepUp.objects.get()
    disarm()
    drop_index("thawvote_one_per_second_factor")
    for person, number in ((walk.approvers[1], confirmation.pk), (walk.operator, copied(confirmation, totp_step=7))):
        inserted(
            ThawVote, freeze_id=frozen.pk, person_id=person.pk, reason="x", confirmation_id=number, at=confirmation.at
        )
    assert freezes._votes(frozen) == 1
    assert any("on lifting a freeze" in finding for finding in audit_check.verify(replay=True))


def thaw(walk: Any, frozen: Freeze, person: Any) -> Freeze:
    return freezes.thaw(
        freeze_id=frozen.pk,
        person=person,
        answer=walk.answer(person),
        reason="It was nothing",
        session_key="session-of-a-test",
        now=clock.now(),
    )


def test_a_freeze_ended_past_the_desk_is_named(walk: Any) -> None:
    frozen = freezes.freeze(person=walk.approvers[0], reason="Looking", account=walk.account, now=clock.now())
    disarm()
    sql("UPDATE exchange_ops_freeze SET thawed_at = frozen_at WHERE id = %s", frozen.pk)
    found = audit_check.verify(replay=True)
    assert f"Freeze {frozen.pk} is lifted in the database but open in the audit trail." in found
    assert any(finding.startswith(f"exchange_ops.freeze {frozen.pk} was altered outside the desk") for finding in found)


def test_a_whole_payment_holds_with_every_row_of_it(walk: Any) -> None:
    row = walk.held(amount=TWO)
    walk.approve(row, walk.approvers[0])
    walk.approve(row, walk.approvers[1])
    row = walk.until(row, "committed", "settled", "sent")
    assert len(walk.calls("commit_withdrawal")) == 1
    assert audit_check.verify(replay=True) == []


def test_a_verdict_counts_with_its_own_second_factor_alone(walk: Any) -> None:
    row, real = half_approved(walk)
    disarm()
    drop_index("approval_one_per_second_factor")
    word(row, walk.approvers[1], real.pk, stage=Approval.RESOLUTION, verdict=Approval.PAID)
    assert resolutions.FINDINGS.people(row, Approval.PAID) == 0
