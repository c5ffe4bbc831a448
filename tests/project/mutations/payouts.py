"""Mistakes in payouts: what is compared, held, ordered and released, and who has to agree."""

from typing import Final

from tests.project.mutations.mutation import Mutation

_TESTS: Final = "tests/exchange_ops/withdrawals"
_STEPS: Final = "exchange_ops/withdrawals/steps"
_DECISIONS: Final = "exchange_ops/withdrawals/decisions"

PAYOUTS: Final = (
    Mutation(
        "The address at the exchange is not compared with the approved one",
        f"{_STEPS}/echo.py",
        "record.address, same_place)",
        "record.address, bool(record.address))",
        (f"{_TESTS}/steps/test_echo_gate.py::test_one_changed_character_in_the_middle_of_the_address_is_a_difference",),
        is_postgresql=True,
    ),
    Mutation(
        "The fee is added to what arrives where it is taken out of it",
        f"{_STEPS}/echo.py",
        "row.amount - max(fee, Decimal(0))",
        "row.amount + max(fee, Decimal(0))",
        (f"{_TESTS}/steps/test_echo_gate.py::test_with_the_fee_taken_out_the_parts_add_up",),
        is_postgresql=True,
    ),
    Mutation(
        "A fee above the approved one agrees",
        f"{_STEPS}/echo.py",
        "(most is not None and fee <= most)",
        "(most is not None and fee >= most)",
        (f"{_TESTS}/steps/test_fee_limit.py::test_a_fee_above_it_keeps_the_hold_and_goes_back_with_both_figures",),
        is_postgresql=True,
    ),
    Mutation(
        "The highest fee may leave less than the minimum to the recipient",
        f"{_DECISIONS}/fee_limits.py",
        "limit = min(limit, amount - minimum)",
        "limit = min(limit, amount + minimum)",
        (
            f"{_TESTS}/steps/test_fee_limit.py::test_out_of_the_amount_no_fee_is_covered_that_leaves_less_than_the_minimum",
        ),
        is_postgresql=True,
    ),
    Mutation(
        "Of two payouts in the ledger that may be the lost hold one is taken",
        f"{_STEPS}/hold_recovery.py",
        "if len(open_entries) > 1 or any(",
        "if len(open_entries) > 2 or any(",
        (f"{_TESTS}/steps/test_unknown_holds.py::test_two_candidates_go_to_two_people_and_freeze",),
        is_postgresql=True,
    ),
    Mutation(
        "Every attempt of a hold has the same tag",
        f"{_STEPS}/holding.py",
        'f"{withdrawal_id}|{attempt}".encode()',
        'f"{withdrawal_id}".encode()',
        (f"{_TESTS}/steps/test_drafting.py::test_every_attempt_of_every_payout_has_a_tag_of_its_own",),
    ),
    Mutation(
        "An equal request is held beside one whose hold is unknown",
        f"{_STEPS}/holding.py",
        "state__in=states.IN_FLIGHT_HOLDS,",
        "state__in=states.CLOSED_STATES,",
        (f"{_TESTS}/steps/test_drafting.py::test_two_equal_requests_are_held_one_after_the_other",),
    ),
    Mutation(
        "The approvals are not counted again before the exchange is told to pay",
        f"{_STEPS}/committing.py",
        "if row.put_count == 0 and not approvals.stand(row):",
        "if row.put_count > 0 and not approvals.stand(row):",
        (f"{_TESTS}/decisions/test_forged_approvals.py::test_a_quorum_made_smaller_has_no_digest",),
        is_postgresql=True,
    ),
    Mutation(
        "The exchange's record is not compared again before the first order",
        f"{_STEPS}/committing.py",
        "elif row.put_count == 0 and not comparison.agrees:",
        "elif row.put_count > 0 and not comparison.agrees:",
        (f"{_TESTS}/steps/test_echo_gate.py::test_the_record_is_compared_once_more_before_the_first_order",),
        is_postgresql=True,
    ),
    Mutation(
        "An answer of false counts as paid",
        f"{_STEPS}/committing.py",
        "if reply.accepted and reply.value is True:",
        "if reply.accepted:",
        (f"{_TESTS}/test_crash_points.py::test_c23_false_again_and_again_is_repeated_and_then_the_ledger_decides",),
        is_postgresql=True,
    ),
    Mutation(
        "The last order to pay is sent after the hour",
        "exchange_ops/withdrawals/deadlines.py",
        '"put_stop_at": closes_at - LAST_PUT_BEFORE',
        '"put_stop_at": closes_at + LAST_PUT_BEFORE',
        (f"{_TESTS}/test_deadlines.py::test_the_deadlines_lie_inside_the_hour",),
        is_postgresql=True,
    ),
    Mutation(
        "One person releases the hold of a closed request",
        f"{_DECISIONS}/open_holds.py",
        "in states.CLOSED_STATES and _people(row) >= PEOPLE",
        "in states.CLOSED_STATES and _people(row) > 0",
        (f"{_TESTS}/decisions/test_open_holds.py::test_two_people_order_the_release_and_only_a_release_is_sent",),
        is_postgresql=True,
    ),
    Mutation(
        "The digest leaves out the last freeze, so that approvals from before it count again",
        f"{_DECISIONS}/digest.py",
        '"freeze": freeze_number, "rules": rules}',
        '"freeze": 0, "rules": rules}',
        (
            "tests/exchange_ops/policy/test_freeze_scopes.py::"
            "test_one_orders_it_two_for_every_account_lift_it_and_what_it_voided_stays_void",
        ),
    ),
    Mutation(
        "Treasury of any account decides on a payout of this one",
        "exchange_ops/withdrawals/rules.py",
        "at=withdrawal.account_id) and person.pk != withdrawal.initiator_id",
        "at=None) and person.pk != withdrawal.initiator_id",
        (
            "tests/exchange_ops/accounts/test_roles_by_account.py::"
            "test_whoever_is_limited_to_the_other_account_may_not[approve]",
        ),
    ),
    Mutation(
        "The same lines are a new batch when they are sent again",
        "exchange_ops/withdrawals/batches/requesting.py",
        "created_at__gt=now - SAME_WITHIN",
        "created_at__gt=now + SAME_WITHIN",
        (f"{_TESTS}/batches/test_batches.py::test_a_double_click_two_tabs_and_the_same_file_again_are_one_batch",),
    ),
    Mutation(
        "A line that repeats a recent payment needs no confirmation",
        "exchange_ops/withdrawals/batches/requesting.py",
        "if set(checked.repeated) - set(accepted):",
        "if set(accepted) - set(checked.repeated):",
        (f"{_TESTS}/batches/test_batches.py::test_a_repeated_payment_is_marked_and_needs_a_tick",),
    ),
    Mutation(
        "An occurrence that is more than a day late is still requested",
        "exchange_ops/withdrawals/schedules/requesting.py",
        "if not is_newest or now - due_at > GRACE:",
        "if not is_newest and now - due_at > GRACE:",
        (f"{_TESTS}/schedules/test_requesting.py::test_after_more_than_a_day_an_occurrence_is_missed",),
    ),
    Mutation(
        "Of an occurrence only its payout is recorded, so that it is due again",
        "exchange_ops/withdrawals/schedules/requesting.py",
        "    with transaction.atomic():\n        row = book.lock(schedule_id)",
        "    if True:\n        row = book.lock(schedule_id)",
        (f"{_TESTS}/schedules/test_requesting.py::test_a_process_that_is_killed_between_the_rows_leaves_none_of_them",),
    ),
)
