"""Mistakes in the company's rules: quorum, groups, limits, freezes, payees, values."""

from typing import Final

from tests.project.mutations.mutation import Mutation

_POLICY: Final = "exchange_ops/policy"
_TESTS: Final = "tests/exchange_ops/policy"

RULES: Final = (
    Mutation(
        "One approval too few is enough",
        f"{_POLICY}/groups/needs.py",
        "and len(self.voters) >= self.needed",
        "and len(self.voters) >= self.needed - 1",
        (f"{_TESTS}/test_group_needs.py::test_a_quorum_is_reached_where_everybody_can_count_once",),
    ),
    Mutation(
        "Of two rules that need approvals of a group the milder one counts",
        f"{_POLICY}/groups/needs.py",
        "most[name] = max(approvals, most.get(name, 0))",
        "most[name] = min(approvals, most.get(name, approvals))",
        (
            f"{_TESTS}/test_group_needs.py::test_of_several_that_apply_at_once_each_group_gives_the_most_that_one_of_them_needs",
        ),
    ),
    Mutation(
        "A value at the top of its tier falls into the next one",
        f"{_POLICY}/quorum.py",
        "if tier.up_to is not None and value <= tier.up_to:",
        "if tier.up_to is not None and value < tier.up_to:",
        (f"{_TESTS}/test_quorum.py::test_the_tiers",),
    ),
    Mutation(
        "A payout leaves itself out of what its recipient is paid in a day, and counts nothing else",
        "exchange_ops/withdrawals/decisions/day_totals.py",
        "if number is None or one.number != number",
        "if number is None or one.number == number",
        (
            "tests/exchange_ops/withdrawals/decisions/test_day_totals.py::test_four_pieces_take_the_approvals_of_their_sum",
        ),
    ),
    Mutation(
        "A total leaves out payouts at the end of its window",
        f"{_POLICY}/outgoing.py",
        "0 < group.window_h <= rule.window_h",
        "0 < group.window_h < rule.window_h",
        (f"{_TESTS}/test_outgoing.py::test_a_rule_counts_what_it_covers_to_the_end_of_its_window_and_nothing_else",),
    ),
    Mutation(
        "A total of one account counts payouts of the others",
        f"{_POLICY}/outgoing.py",
        "        and rule.account in {None, group.account}\n",
        "",
        (f"{_TESTS}/test_outgoing.py::test_a_rule_counts_what_it_covers_to_the_end_of_its_window_and_nothing_else",),
    ),
    Mutation(
        "What has no current price exceeds no limit",
        f"{_POLICY}/limits.py",
        "if value is None or value > row.most]",
        "if value is not None and value > row.most]",
        ("tests/exchange_ops/policy_changes/test_limits.py::test_what_is_not_known_is_more_than_any_limit",),
    ),
    Mutation(
        "A price in the other direction is not turned round",
        "exchange_ops/market/valuation.py",
        "Price(1 / rate, ticker.read_at",
        "Price(rate, ticker.read_at",
        ("tests/exchange_ops/market/test_valuation.py::test_an_inverse_price_counts",),
    ),
    Mutation(
        "The highest fee is rounded to the nearest figure instead of up",
        f"{_POLICY}/fee_margins.py",
        "to_integral_value(rounding=ROUND_CEILING)",
        "to_integral_value()",
        (f"{_TESTS}/test_fee_margins.py::test_the_highest_fee_is_the_larger_of_both_rounded_up",),
    ),
    Mutation(
        "A freeze of a destination covers every other one",
        f"{_POLICY}/freeze_scopes.py",
        "bool(movement.destination) and freeze.destination == movement.destination",
        "bool(movement.destination) and freeze.destination != movement.destination",
        (f"{_TESTS}/test_freeze_scopes.py::test_before_a_hold_each_scope_stops_a_payout_and_no_other_does",),
    ),
    Mutation(
        "One person lifts a freeze",
        f"{_POLICY}/freezes.py",
        "ended = count >= VOTES_TO_THAW",
        "ended = count > 0",
        (f"{_TESTS}/test_freezes.py::test_two_different_people_of_treasury_thaw_it",),
        is_postgresql=True,
    ),
    Mutation(
        "A payee counts without the day of cooling off",
        "exchange_ops/payees/book.py",
        "counts_from__lte=now, expires_at__gt=now",
        "expires_at__gt=now",
        ("tests/exchange_ops/payees/test_payees.py::test_it_counts_a_day_after_the_second_approval_until_it_expires",),
    ),
)
