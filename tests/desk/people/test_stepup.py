"""One second factor, one decision: nothing else is confirmed by it, and never twice."""

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.db import IntegrityError, connection, transaction
from fido2.utils import websafe_decode, websafe_encode

from desk import audit_check
from desk.audit import trail
from desk.models import Person, StepUp, StepUpChallenge, StepUpFailure
from desk.people import accounts, code_limits, stepup, totp
from tests.desk.authenticator import PRESENT, VERIFIED, SoftKey
from tests.desk.people.conftest import SECRET
from wire.values import Secret

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("two transactions at once")]

NOW = datetime(2026, 11, 20, 12, 0, 5, tzinfo=UTC)
DIGEST = "ab" * 32
OTHER_DIGEST = "cd" * 32
SESSION = "session-of-treasury"
Confirm = Callable[..., StepUp]


@pytest.fixture(autouse=True)
def heads(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path


@pytest.fixture
def confirm(person: Person) -> Confirm:
    """`stepup.verify` as a request would call it, with any argument bent."""

    def call(answer: Any, **changes: Any) -> StepUp:
        arguments: dict[str, Any] = {
            "person": person,
            "purpose": "withdrawal.approve",
            "digest": DIGEST,
            "session_key": SESSION,
            "now": NOW,
        }
        with code_limits.collecting(), transaction.atomic():
            return stepup.verify(**{**arguments, "answer": answer, **changes})

    return call


@pytest.fixture
def ask(person: Person) -> Callable[..., dict[str, Any]]:
    def call(**changes: Any) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "person": person,
            "purpose": "withdrawal.approve",
            "digest": DIGEST,
            "session_key": SESSION,
            "now": NOW,
        }
        return stepup.challenge(**{**arguments, **changes})

    return call


def code(*, steps: int = 0, at: datetime = NOW) -> dict[str, str]:
    return {"kind": "totp", "code": totp.code_at(SECRET, totp.step_at(at) + steps)}


# One-time codes -------------------------------------------------------------------------------------------------------


def test_codes_match_the_vectors_of_the_standard() -> None:
    secret = Secret("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
    vectors = {59: "287082", 1111111109: "081804", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130"}
    assert {at: totp.code_at(secret, at // 30) for at in vectors} == vectors


def test_a_code_is_kept_with_what_it_confirmed(confirm: Confirm, person: Person) -> None:
    row = confirm(code())
    kept = StepUp.objects.get()
    assert kept == row
    assert (kept.person, kept.kind, kept.purpose, kept.digest) == (person, "totp", "withdrawal.approve", DIGEST)
    assert kept.totp_step == totp.step_at(NOW)
    assert kept.session_digest == trail.digest_of(SESSION)
    assert SESSION not in str(vars(kept))


@pytest.mark.parametrize("steps", [-1, 0, 1])
def test_a_clock_may_differ_by_one_step(confirm: Confirm, steps: int) -> None:
    assert confirm(code(steps=steps)).totp_step == totp.step_at(NOW) + steps


@pytest.mark.parametrize("steps", [-3, -2, 2, 3, 1000])
def test_codes_of_other_times_are_refused(confirm: Confirm, steps: int) -> None:
    with pytest.raises(stepup.CannotConfirm, match="Incorrect code"):
        confirm(code(steps=steps))
    assert not StepUp.objects.exists()


def test_a_code_is_used_once_also_for_another_decision(confirm: Confirm) -> None:
    confirm(code())
    for changes in ({}, {"digest": OTHER_DIGEST}, {"session_key": "another"}, {"now": NOW + timedelta(seconds=20)}):
        with pytest.raises(stepup.CannotConfirm, match="already been used"):
            confirm(code(), **changes)
    assert StepUp.objects.count() == 1


def test_an_older_code_is_refused_after_a_newer_one(confirm: Confirm) -> None:
    confirm(code(steps=1))
    with pytest.raises(stepup.CannotConfirm, match="already been used"):
        confirm(code())


def test_a_code_spent_in_a_rolled_back_decision_can_be_used_again(confirm: Confirm, person: Person) -> None:
    with transaction.atomic():
        stepup.verify(person=person, purpose="p", digest=DIGEST, answer=code(), session_key=SESSION, now=NOW)
        transaction.set_rollback(True)
    assert confirm(code()).totp_step == totp.step_at(NOW)


def test_the_code_of_the_sign_in_confirms_nothing(confirm: Confirm, person: Person) -> None:
    assert totp.spend(person, totp.step_at(NOW))
    with pytest.raises(stepup.CannotConfirm, match="already been used"):
        confirm(code())


@pytest.mark.parametrize(
    "answer",
    [
        {},
        None,
        [],
        "123456",
        {"kind": "totp"},
        {"kind": "totp", "code": ""},
        {"kind": "totp", "code": None},
        {"kind": "totp", "code": 123456},
        {"kind": "totp", "code": "12345"},
        {"kind": "totp", "code": "1234567"},
        {"kind": "totp", "code": "१२३४५६"},
        {"kind": "totp", "code": "12345\x00"},
        {"kind": "totp", "code": "9" * 100_000},
        {"kind": "totp", "code": ["123456"]},
        {"kind": "recovery_codes", "code": "123456"},
        {"kind": "password", "code": "a long demo sentence"},
        {"kind": {"totp": 1}, "code": "123456"},
    ],
)
def test_odd_answers_are_refused_and_leave_nothing(confirm: Confirm, answer: Any) -> None:
    with pytest.raises(stepup.CannotConfirm):
        confirm(answer)
    assert not StepUp.objects.exists()


def test_a_code_typed_in_two_groups_is_read(confirm: Confirm) -> None:
    typed = code()["code"]
    assert confirm({"kind": "totp", "code": f" {typed[:3]} {typed[3:]}\n"}).kind == "totp"


def test_recovery_codes_confirm_nothing(confirm: Confirm, person: Person) -> None:
    recovery = RecoveryCodes.activate(person).get_unused_codes()[0]
    for kind in ("totp", "recovery_codes"):
        with pytest.raises(stepup.CannotConfirm):
            confirm({"kind": kind, "code": recovery})
    assert len(Authenticator.objects.get(type="recovery_codes").wrap().get_unused_codes()) == 10


def test_somebody_without_a_factor_is_told_so(confirm: Confirm, operator: Person) -> None:
    with pytest.raises(stepup.CannotConfirm, match="no authenticator app"):
        confirm(code(), person=operator)
    with pytest.raises(stepup.CannotConfirm, match="no passkey"):
        stepup.challenge(person=operator, purpose="p", digest=DIGEST, session_key=SESSION, now=NOW)


def test_another_persons_code_is_wrong(confirm: Confirm, treasury2: Person) -> None:
    totp.enrol(treasury2, Secret("KRSXG5CTMVRXEZLUKN2XAZLSKRSXG5CT"))
    with pytest.raises(stepup.CannotConfirm, match="Incorrect code"):
        confirm(code(), person=treasury2)


def test_a_decision_needs_a_session_and_a_transaction(confirm: Confirm, person: Person) -> None:
    with pytest.raises(stepup.CannotConfirm, match="API token"):
        confirm(code(), session_key="")
    with pytest.raises(RuntimeError):
        stepup.verify(person=person, purpose="p", digest=DIGEST, answer=code(), session_key=SESSION, now=NOW)
    person.is_active = False
    with pytest.raises(stepup.CannotConfirm, match="deactivated"):
        confirm(code())


def test_the_same_code_at_once_confirms_one_decision(confirm: Confirm) -> None:
    outcomes: list[str] = []
    start = threading.Barrier(4)

    def attempt(digest: str) -> None:
        start.wait()
        try:
            confirm(code(), digest=digest)
            outcomes.append("confirmed")
        except stepup.CannotConfirm:
            outcomes.append("refused")
        finally:
            connection.close()

    threads = [threading.Thread(target=attempt, args=(f"{number:064x}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["confirmed", "refused", "refused", "refused"]
    assert StepUp.objects.count() == 1


# Guessing -------------------------------------------------------------------------------------------------------------


def test_ten_wrong_codes_make_the_session_wait_even_with_the_right_one(confirm: Confirm) -> None:
    refused_unseen = 0
    for number in range(10):
        with pytest.raises(stepup.CannotConfirm) as refusal:
            confirm({"kind": "totp", "code": "000000"}, now=NOW + timedelta(seconds=number))
        refused_unseen += "Too many" in str(refusal.value)
    assert refused_unseen >= 4
    with pytest.raises(stepup.CannotConfirm, match=r"Too many incorrect codes\. Try again in"):
        confirm(code(at=NOW + timedelta(seconds=10)), now=NOW + timedelta(seconds=10))


def test_the_wait_grows_and_ends(confirm: Confirm, person: Person) -> None:
    digest = trail.digest_of(SESSION)
    waits = []
    for _ in range(12):
        with pytest.raises(stepup.CannotConfirm):
            confirm({"kind": "totp", "code": "000000"}, now=NOW)
        StepUpFailure.objects.create(person=person, session_digest=digest, at=NOW)
        waits.append(code_limits.seconds_to_wait(person=person, session_digest=digest, now=NOW))
    assert waits == sorted(waits)
    assert waits[-1] == code_limits.LONGEST_WAIT_S
    later = NOW + timedelta(seconds=code_limits.LONGEST_WAIT_S)
    assert confirm(code(at=later), now=later).kind == "totp"


def test_a_right_code_forgets_the_wrong_ones(confirm: Confirm) -> None:
    for _ in range(2):
        with pytest.raises(stepup.CannotConfirm):
            confirm({"kind": "totp", "code": "000000"})
    confirm(code())
    assert not StepUpFailure.objects.exists()


def test_session_after_session_shares_one_budget_but_known_sessions_are_free(confirm: Confirm) -> None:
    confirm(code())  # the session of the rightful person has shown a right code before
    for number in range(10):
        with pytest.raises(stepup.CannotConfirm, match="Incorrect code"):
            confirm({"kind": "totp", "code": "000000"}, session_key=f"stranger-{number}", now=NOW)
    with pytest.raises(stepup.CannotConfirm, match="Too many"):
        confirm({"kind": "totp", "code": "000000"}, session_key="stranger-11", now=NOW)
    assert confirm(code(steps=1)).kind == "totp"
    later = NOW + timedelta(seconds=61)
    with pytest.raises(stepup.CannotConfirm, match="Incorrect code"):
        confirm({"kind": "totp", "code": "000000"}, session_key="stranger-12", now=later)


def test_wrong_codes_are_counted_although_the_decision_is_rolled_back(confirm: Confirm) -> None:
    with pytest.raises(stepup.CannotConfirm):
        confirm({"kind": "totp", "code": "000000"})
    assert StepUpFailure.objects.count() == 1


def test_passkeys_are_not_slowed_down(confirm: Confirm, ask: Callable[..., Any], key: SoftKey, person: Person) -> None:
    digest = trail.digest_of(SESSION)
    StepUpFailure.objects.bulk_create([StepUpFailure(person=person, session_digest=digest, at=NOW) for _ in range(50)])
    assert confirm(key.answer(ask())).kind == "passkey"


# Passkeys -------------------------------------------------------------------------------------------------------------


def test_a_passkey_signs_the_decision_and_the_trail(
    confirm: Confirm, ask: Callable[..., Any], key: SoftKey, person: Person
) -> None:
    with transaction.atomic():
        event = trail.record(actor=None, action="a", subject="s:1", before={}, after={}, now=NOW)
    row = confirm(key.answer(ask()))
    row.refresh_from_db()
    assert row.audit_head == event.hash
    assert stepup.is_still_signed(row)
    assert audit_check.verify() == []
    content = json.loads(websafe_decode(row.client_data))
    assert content["challenge"] == row.challenge
    assert not {SESSION, event.hash} & set(content.values())


def test_the_answer_may_come_as_text(confirm: Confirm, ask: Callable[..., Any], key: SoftKey) -> None:
    answer = key.answer(ask())
    assert confirm({"kind": "passkey", "credential": json.dumps(answer["credential"])}).kind == "passkey"


def test_options_ask_for_verification_of_the_user(ask: Callable[..., Any], key: SoftKey) -> None:
    options = ask()["publicKey"]
    assert options["userVerification"] == "required"
    assert options["rpId"] == "localhost"
    assert options["timeout"] == 120_000
    assert [one["id"] for one in options["allowCredentials"]] == [websafe_encode(key.credential_id)]
    assert ask()["publicKey"]["challenge"] != options["challenge"]


@pytest.mark.parametrize(
    "changes",
    [
        {"digest": OTHER_DIGEST},
        {"purpose": "withdrawal.release"},
        {"session_key": "another session"},
        {"now": NOW + timedelta(seconds=121)},
        {"now": NOW - timedelta(seconds=1)},
    ],
)
def test_an_answer_counts_for_nothing_else(
    confirm: Confirm, ask: Callable[..., Any], key: SoftKey, changes: dict[str, Any]
) -> None:
    answer = key.answer(ask())
    with pytest.raises(stepup.CannotConfirm):
        confirm(answer, **changes)
    assert not StepUp.objects.exists()
    assert confirm(answer).kind == "passkey", "for what it was made it still counts"


def test_an_answer_counts_at_the_last_second(confirm: Confirm, ask: Callable[..., Any], key: SoftKey) -> None:
    assert confirm(key.answer(ask()), now=NOW + timedelta(seconds=120)).kind == "passkey"


def test_an_answer_is_used_once(confirm: Confirm, ask: Callable[..., Any], key: SoftKey) -> None:
    options = ask()
    answer = key.answer(options)
    confirm(answer)
    with pytest.raises(stepup.CannotConfirm, match="already been used"):
        confirm(answer)
    with pytest.raises(stepup.CannotConfirm, match="already been used"):
        confirm(key.answer(options))
    assert StepUp.objects.count() == 1


def test_another_persons_key_and_challenge_are_refused(
    confirm: Confirm, ask: Callable[..., Any], key: SoftKey, treasury2: Person
) -> None:
    foreign = SoftKey()
    foreign.enrol(treasury2)
    with pytest.raises(stepup.CannotConfirm):
        confirm(foreign.answer(ask()))
    with pytest.raises(stepup.CannotConfirm):
        confirm(key.answer(ask()), person=treasury2)
    with pytest.raises(stepup.CannotConfirm):
        confirm(key.answer(ask(person=treasury2)))
    assert not StepUp.objects.exists()


def test_a_key_that_was_removed_is_refused(confirm: Confirm, ask: Callable[..., Any], key: SoftKey) -> None:
    answer = key.answer(ask())
    Authenticator.objects.filter(type="webauthn").delete()
    with pytest.raises(stepup.CannotConfirm):
        confirm(answer)


@pytest.mark.parametrize(
    "bent",
    [
        {"flags": PRESENT},
        {"flags": VERIFIED},
        {"flags": 0},
        {"origin": "https://evil.example"},
        {"origin": "http://localhost.evil.example:8000"},
        {"origin": "http://127.0.0.1:8000"},
        {"origin": "https://sub.localhost"},
        {"origin": "null"},
        {"origin": "http://[oops"},
        {"type": "webauthn.create"},
        {"crossOrigin": True},
        {"challenge": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
        {"challenge": 7},
    ],
)
def test_every_bent_part_is_refused_although_rightly_signed(
    confirm: Confirm, ask: Callable[..., Any], key: SoftKey, bent: dict[str, Any]
) -> None:
    answer = key.answer(ask(), **bent)
    with pytest.raises(stepup.CannotConfirm):
        confirm(answer)
    assert not StepUp.objects.exists()


def test_a_device_that_asked_for_nothing_is_named_as_the_reason(
    confirm: Confirm, ask: Callable[..., Any], key: SoftKey
) -> None:
    with pytest.raises(stepup.CannotConfirm, match="PIN, fingerprint or face"):
        confirm(key.answer(ask(), flags=PRESENT))


def test_a_key_for_another_host_is_refused(confirm: Confirm, ask: Callable[..., Any], person: Person) -> None:
    elsewhere = SoftKey("evil.example")
    elsewhere.enrol(person)
    with pytest.raises(stepup.CannotConfirm):
        confirm(elsewhere.answer(ask()))


def test_a_bit_turned_anywhere_is_refused(confirm: Confirm, ask: Callable[..., Any], key: SoftKey) -> None:
    answer = key.answer(ask())
    for part in ("clientDataJSON", "authenticatorData", "signature"):
        content = bytearray(websafe_decode(answer["credential"]["response"][part]))
        for place in range(len(content)):
            turned = bytes(content[:place]) + bytes([content[place] ^ 1]) + bytes(content[place + 1 :])
            response = {**answer["credential"]["response"], part: websafe_encode(turned)}
            with pytest.raises(stepup.CannotConfirm):
                confirm({"kind": "passkey", "credential": {**answer["credential"], "response": response}})
    assert not StepUp.objects.exists()
    assert confirm(answer).kind == "passkey"


@pytest.mark.parametrize(
    "credential",
    [
        None,
        "",
        "{",
        "[]",
        "null",
        7,
        [],
        {},
        {"id": "x"},
        "[" * 7_000,
        "x" * 100_000,
        {"response": None, "rawId": "AA"},
        {
            "id": "AAAA",
            "rawId": "AAAA",
            "response": {"clientDataJSON": "AAAA", "authenticatorData": "AAAA", "signature": ""},
        },
        {"id": "AAAA", "rawId": "BBBB", "response": {}},
        {"a" * 9_000: 1},
    ],
)
def test_what_is_no_answer_is_refused(confirm: Confirm, key: SoftKey, credential: Any) -> None:
    with pytest.raises(stepup.CannotConfirm):
        confirm({"kind": "passkey", "credential": credential})


def test_a_counter_that_does_not_go_up_is_a_copied_key(confirm: Confirm, ask: Callable[..., Any], key: SoftKey) -> None:
    confirm(key.answer(ask(), count=5))
    for count in (5, 4, 0):
        with pytest.raises(stepup.CannotConfirm):
            confirm(key.answer(ask(), count=count))
    assert confirm(key.answer(ask(), count=6)).sign_count == 6


def test_keys_that_never_count_are_taken(confirm: Confirm, ask: Callable[..., Any], key: SoftKey) -> None:
    for _ in range(3):
        confirm(key.answer(ask(), count=0))
    assert StepUp.objects.count() == 3


def test_challenges_are_bounded_and_swept(ask: Callable[..., Any], key: SoftKey) -> None:
    for _ in range(stepup.MOST_CHALLENGES):
        ask()
    with pytest.raises(stepup.CannotConfirm, match="Too many"):
        ask()
    ask(now=NOW + timedelta(minutes=11))
    assert StepUpChallenge.objects.count() == 1


def test_without_a_host_name_there_are_no_passkeys(settings: Any, ask: Callable[..., Any], key: SoftKey) -> None:
    settings.DESK_HOST, settings.DESK_ORIGIN = "10.0.0.5", "https://10.0.0.5"
    with pytest.raises(stepup.CannotConfirm, match="no passkey"):
        ask()


@pytest.mark.parametrize("own", ["https://desk.example:8443", "https://desk.example"])
def test_a_passkey_approves_at_the_address_of_the_desk_with_its_port_and_nowhere_else(
    settings: Any, confirm: Confirm, ask: Callable[..., Any], person: Person, own: str
) -> None:
    settings.DEMO = False
    settings.DESK_HOST, settings.DESK_ORIGIN = "desk.example", own
    key = SoftKey("desk.example")
    key.enrol(person)
    others = {"https://desk.example", "https://desk.example:8443", "http://desk.example", "https://other.desk.example"}
    for origin in (*others - {own}, "http://localhost"):
        with pytest.raises(stepup.CannotConfirm, match=f"at another address. Open the desk at {own} and"):
            confirm(key.answer(ask(), origin=origin))
    assert confirm(key.answer(ask(), origin=own)).kind == "passkey"


@pytest.mark.parametrize(
    "form", [accounts.AddPasskeyForm, accounts.ReauthenticatePasskeyForm, accounts.PasskeyAloneForm]
)
def test_a_passkey_that_could_approve_nothing_is_neither_enrolled_nor_taken_at_sign_in(
    settings: Any, ask: Callable[..., Any], key: SoftKey, person: Person, form: Any
) -> None:
    """A page at another port of the same host, which the library would take."""
    settings.DESK_ORIGIN = "http://localhost:8443"
    answer = json.dumps(key.answer(ask(), origin="http://localhost:8000")["credential"])
    named = {} if form is accounts.PasskeyAloneForm else {"user": person}
    says = "This passkey was used at another address. Open the desk at http://localhost:8443 and try again."
    assert form({"credential": answer}, **named).errors["credential"] == [says]


# What is kept ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"digest": OTHER_DIGEST},
        {"purpose": "another"},
        {"public_key": "oA"},
        {"nonce": "0" * 64},
        {"signature": "AAAA"},
        {"audit_head": "0" * 64},
        {"authenticator_data": "AAAA"},
        {"client_data": "e30"},
    ],
)
def test_a_kept_signature_shows_later_changes(
    confirm: Confirm, ask: Callable[..., Any], key: SoftKey, changes: dict[str, str]
) -> None:
    with transaction.atomic():
        trail.record(actor=None, action="a", subject="s:1", before={}, after={}, now=NOW)
    row = confirm(key.answer(ask()))
    assert audit_check.verify() == []
    StepUp.objects.filter(pk=row.pk).update(**changes)
    assert any("no longer proves" in problem for problem in audit_check.verify())


def test_a_proof_stays_when_its_key_is_removed(confirm: Confirm, ask: Callable[..., Any], key: SoftKey) -> None:
    confirm(key.answer(ask()))
    Authenticator.objects.filter(type="webauthn").delete()
    assert audit_check.verify() == []


@pytest.mark.parametrize("kind", ["totp", "passkey"])
def test_the_event_of_a_decision_holds_its_second_factor_fast(
    confirm: Confirm, ask: Callable[..., Any], key: SoftKey, treasury2: Person, kind: str
) -> None:
    row = confirm(code() if kind == "totp" else key.answer(ask()))
    row.refresh_from_db()
    after = {"state": "COMMITTING", "evidence": {"approvals": 1, **row.evidence()}}
    with transaction.atomic():
        trail.record(actor=row.person, action="a", subject="withdrawal:1", before={}, after=after, now=NOW)
    assert audit_check.verify() == []
    StepUp.objects.filter(pk=row.pk).update(person=treasury2)
    assert any(f"names second factor {row.pk}" in problem for problem in audit_check.verify())
    StepUp.objects.filter(pk=row.pk).delete()
    assert any(f"names second factor {row.pk}" in problem for problem in audit_check.verify())


def test_a_trail_rewritten_under_a_signed_head_shows(confirm: Confirm, ask: Callable[..., Any], key: SoftKey) -> None:
    from desk.audit import triggers

    with transaction.atomic():
        trail.record(actor=None, action="a", subject="s:1", before={}, after={}, now=NOW)
    confirm(key.answer(ask()))
    triggers.remove(connection)
    connection.cursor().execute("DELETE FROM desk_auditevent")
    triggers.install(connection)
    trail.heads_path().unlink()  # even with the file of heads gone, the signature remembers
    assert any("to a different trail" in problem for problem in audit_check.verify())


@pytest.mark.parametrize(
    "changes", [{"totp_step": None}, {"kind": "passkey"}, {"kind": "passkey", "challenge": "x", "totp_step": None}]
)
def test_the_database_wants_the_proof(confirm: Confirm, changes: dict[str, Any]) -> None:
    row = confirm(code())
    with pytest.raises(IntegrityError), transaction.atomic():
        StepUp.objects.filter(pk=row.pk).update(**changes)
