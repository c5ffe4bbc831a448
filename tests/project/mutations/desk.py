"""Mistakes in what all rooms stand on: the machine kit, votes, second factors, roles, the trail, calls on the wire."""

from typing import Final

from tests.project.mutations.mutation import Mutation

_PAYOUTS: Final = "tests/exchange_ops/withdrawals"

DESK: Final = (
    Mutation(
        "A row is changed without the condition on its version",
        "desk/machines/mover.py",
        "filter(pk=row.pk, state=row.state, version=row.version)",
        "filter(pk=row.pk, state=row.state)",
        (
            f"{_PAYOUTS}/test_mover.py::TestMover::"
            "test_a_touch_and_a_move_need_the_same_version_where_the_state_is_the_same",
        ),
        is_postgresql=True,
    ),
    Mutation(
        "A call is sent although another worker has taken over",
        "desk/machines/calls.py",
        'return "" if marked else TAKEN_OVER',
        'return ""',
        (
            f"{_PAYOUTS}/steps/test_unknown_holds.py::test_a_paused_worker_finds_that_its_claim_is_gone_and_sends_nothing",
        ),
        is_postgresql=True,
    ),
    Mutation(
        "A claim of another worker is not heeded while it runs",
        "desk/machines/calls.py",
        "if row.lease_until is None or now >= row.lease_until or",
        "if row.lease_until is None or now <= row.lease_until or",
        (f"{_PAYOUTS}/test_crash_points.py::test_c4_killed_after_the_claim_before_the_bytes",),
        is_postgresql=True,
    ),
    Mutation(
        "A freeze is not asked for once the row is locked",
        "desk/machines/calls.py",
        "        if problem := obstacle():\n            raise CannotMove(problem)\n        if hasattr",
        "        if hasattr",
        ("tests/exchange_ops/policy/test_frozen_in_the_moment.py::test_a_hold",),
        is_postgresql=True,
    ),
    Mutation(
        "After a restore what waits is sent before two people have settled it",
        "desk/machines/calls.py",
        "if moves_money and (problem := rooms.why_nothing_leaves()):",
        "if not moves_money and (problem := rooms.why_nothing_leaves()):",
        ("tests/exchange_ops/restores/test_falling_back.py::test_a_transfer_waits_for_two_people_and_is_sent_once",),
        is_postgresql=True,
    ),
    Mutation(
        "Other content under a key that was used gives the earlier row",
        "desk/machines/requests.py",
        "if row is not None and not self.is_same(row):",
        "if row is not None and row.pk is None:",
        (
            "tests/exchange_ops/orders/test_orders.py::"
            "test_the_same_request_is_one_order_and_other_content_under_its_key_is_refused",
        ),
        is_postgresql=True,
    ),
    Mutation(
        "An approval of one's own request counts",
        "desk/machines/votes.py",
        "filter(**named).exclude(person=row.initiator_id)",
        "filter(**named)",
        (
            f"{_PAYOUTS}/decisions/test_forged_approvals.py::"
            "test_an_own_approval_does_not_count_although_its_second_factor_is_genuine",
        ),
        is_postgresql=True,
    ),
    Mutation(
        "An approval from before its person lost the role counts again",
        "desk/machines/votes.py",
        '.exclude(person__words_from__gt=F("at"))',
        "",
        (
            f"{_PAYOUTS}/decisions/test_approvals.py::"
            "test_an_approval_from_before_somebody_was_switched_off_never_counts_again",
        ),
        is_postgresql=True,
    ),
    Mutation(
        "The one-time code of the sign-in confirms a decision",
        "desk/people/totp.py",
        "step__lt=step).update(step=step)",
        "step__lte=step).update(step=step)",
        ("tests/desk/people/test_stepup.py::test_the_code_of_the_sign_in_confirms_nothing",),
        is_postgresql=True,
    ),
    Mutation(
        "A passkey whose counter stands still is taken",
        "desk/people/stepup.py",
        "sign_count__lt=assertion.sign_count",
        "sign_count__lte=assertion.sign_count",
        ("tests/desk/people/test_stepup.py::test_a_counter_that_does_not_go_up_is_a_copied_key",),
        is_postgresql=True,
    ),
    Mutation(
        "A rejection in a signed list proves an approval",
        "desk/people/signing/signed_lists.py",
        "members[1:4] == [row.purpose, row.digest, APPROVE]",
        "members[1:3] == [row.purpose, row.digest]",
        ("tests/desk/people/signing/test_signed_lists.py::test_a_place_proves_nothing_else[rejection]",),
    ),
    Mutation(
        "A role at one account counts at every account",
        "desk/people/scopes.py",
        'where |= Q(**{limits: f" {role}:{scope} "})',
        'where |= Q(**{limits: f" {role}:"})',
        ("tests/exchange_ops/accounts/test_roles_by_account.py::test_the_database_and_the_person_say_the_same",),
    ),
    Mutation(
        "Two writers put the same link into the trail",
        "desk/audit/trail.py",
        '    if connection.vendor == "postgresql":\n',
        '    if connection.vendor == "sqlite":\n',
        ("tests/desk/audit/test_audit.py::test_many_writers_at_once_lose_nothing",),
        is_postgresql=True,
    ),
    Mutation(
        "The hash of an event leaves out who acted",
        "desk/audit/trail.py",
        "        event.actor_id,\n        event.session_digest,\n        event.action,",
        "        event.session_digest,\n        event.action,",
        ("tests/desk/audit/test_audit.py::test_a_flip_in_any_place_of_any_column_shows[actor_id]",),
        is_postgresql=True,
    ),
    Mutation(
        "The database lets the requester approve under another name",
        "exchange_ops/withdrawals/machine.py",
        '"AND w.initiator_id = NEW.initiator_id AND w.initiator_id <> NEW.person_id)",',
        '"AND w.initiator_id = NEW.initiator_id)",',
        ("tests/desk/audit/test_row_witnesses.py::test_every_trigger_of_this_version_is_installed_and_none_besides",),
        is_postgresql=True,
    ),
    Mutation(
        "A call whose answer is lost counts as never sent",
        "wire/transport.py",
        "            if came.unsent:\n                raise Unreachable",
        "            if came.reason:\n                raise Unreachable",
        ("tests/wire/test_transport.py::test_executed_then_reset_is_unknown",),
    ),
    Mutation(
        "Any code in an answer counts as a refusal",
        "wire/transport.py",
        "400 <= came.status < 500 and error.code in self._refusals",
        "400 <= came.status < 500",
        ("tests/wire/test_transport.py::test_4xx_without_a_known_refusal_is_unknown",),
    ),
    Mutation(
        "A read that is not repeatable is repeated",
        "wire/transport.py",
        "if not (passing and request.operation.repeatable and",
        "if not (passing and",
        ("tests/wire/test_transport.py::test_read_that_is_not_repeatable_is_asked_once",),
    ),
)
