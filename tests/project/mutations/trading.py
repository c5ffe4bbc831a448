"""Mistakes in transfers, orders, brackets and margin: money that moves by one call, or that an order binds."""

from typing import Final

from tests.project.mutations.mutation import Mutation

_TRANSFERS: Final = "tests/exchange_ops/transfers"
_ORDERS: Final = "tests/exchange_ops/orders"
_POSITIONS: Final = "tests/exchange_ops/positions"

TRADING: Final = (
    Mutation(
        "A lost transfer that the ledger does not show yet is given up at once",
        "exchange_ops/transfers/recovery.py",
        "if quiet and looks >= LISTINGS:",
        "if quiet or looks >= LISTINGS:",
        (f"{_TRANSFERS}/test_matrix.py::test_one_call_and_its_outcome[lost before effect-bank_to_trading]",),
        is_postgresql=True,
    ),
    Mutation(
        "The fee of a payout in between is added to the balance",
        "exchange_ops/transfers/snapshots.py",
        "return -(amount + (entry.fee or ZERO))",
        "return -(amount - (entry.fee or ZERO))",
        (
            f"{_TRANSFERS}/test_snapshots.py::"
            "test_each_kind_of_movement_in_between_is_explained_with_its_sign_and_what_leaves_with_its_fee",
        ),
    ),
    Mutation(
        "A transfer that the ledger shows already is sent",
        "exchange_ops/transfers/sending.py",
        "if lookalikes := lookalike_entries(row):",
        "if (lookalikes := lookalike_entries(row)) and row.attempt:",
        (f"{_TRANSFERS}/test_fallen_back.py::test_what_the_ledger_shows_since_it_was_asked_for_is_not_sent",),
        is_postgresql=True,
    ),
    Mutation(
        "The approvals of a transfer are not counted again before it is sent",
        "exchange_ops/transfers/sending.py",
        " or (row.leaves and not approvals.stands(row))",
        "",
        (f"{_TRANSFERS}/test_people.py::test_an_approver_who_lost_the_role_does_not_count",),
        is_postgresql=True,
    ),
    Mutation(
        "An approval of an order counts for another content",
        "exchange_ops/orders/decisions/approvals.py",
        "return digests.matches(row.digest, row) and votes.people",
        "return votes.people",
        (
            f"{_ORDERS}/test_approvals.py::test_the_exits_placed_with_it_are_approved_with_it_and_none_are_added_while_it_waits",
        ),
        is_postgresql=True,
    ),
    Mutation(
        "Two orders at once are both within a limit of open orders",
        "exchange_ops/orders/workflow.py",
        "                trail.take_turn()  # of two that are placed at once, the second sees the first\n",
        "                pass\n",
        (f"{_ORDERS}/test_open_limit_at_once.py::test_exactly_one_of_two_that_race_for_the_last_place_is_taken",),
        is_postgresql=True,
    ),
    Mutation(
        "A buy that costs more than there is passes",
        "exchange_ops/orders/request_checks.py",
        "sums.total is None or Fraction(sums.total) < Fraction(held.available) + freed",
        "sums.total is None or Fraction(sums.total) > Fraction(held.available) + freed",
        (
            f"{_ORDERS}/test_orders.py::test_what_breaks_the_rules_is_told_beside_its_field_and_leaves_nothing"
            "[changes5-quantity-required, including fees]",
        ),
        is_postgresql=True,
    ),
    Mutation(
        "A price that is worse than the market is not bounded, and one behind it is",
        "exchange_ops/orders/policy_checks.py",
        "if price <= farthest if is_buy else price >= farthest:",
        "if price >= farthest if is_buy else price <= farthest:",
        (
            "tests/exchange_ops/policy_changes/test_limits.py::"
            "test_a_price_that_is_worse_than_the_market_is_bounded_and_one_behind_it_is_not[buy-511.03-False]",
        ),
    ),
    Mutation(
        "A second stop is placed beside one whose outcome is unknown",
        "exchange_ops/orders/brackets/plan.py",
        "floored(self.exposed - sum((leg.most for",
        "floored(self.exposed - sum((leg.least for",
        (f"{_ORDERS}/brackets/test_plan.py::test_nothing_is_placed_or_over_beside_what_may_be_there",),
    ),
    Mutation(
        "A stop is rounded to the nearest step and closes more than is open",
        "exchange_ops/orders/brackets/plan.py",
        "quantize(Decimal(1), rounding=ROUND_FLOOR) * step",
        "quantize(Decimal(1)) * step",
        (f"{_ORDERS}/brackets/test_plan.py::test_quantities_are_whole_steps_and_never_more",),
    ),
    Mutation(
        "An open loss lowers the collateral that has to stay",
        "exchange_ops/positions/request_checks.py",
        "held.margin_balance_required - loss",
        "held.margin_balance_required + loss",
        (f"{_POSITIONS}/test_bounds.py::test_orders_position_and_an_open_loss_stay_covered",),
    ),
    Mutation(
        "A part of a position is closed by an order of the same side",
        "exchange_ops/positions/request_checks.py",
        'row.side = "sell" if position.quantity > 0 else "buy"',
        'row.side = "buy" if position.quantity > 0 else "sell"',
        (f"{_POSITIONS}/test_actions.py::test_a_part_is_closed_by_an_order_of_the_other_side",),
        is_postgresql=True,
    ),
    Mutation(
        "A position is closed although it is larger than the confirmed one",
        "exchange_ops/positions/sending.py",
        "if row.position_id is not None and row.quantity != size:",
        "if row.position_id is None and row.quantity != size:",
        (f"{_POSITIONS}/test_actions.py::test_a_position_that_is_another_one_by_now_is_not_closed",),
        is_postgresql=True,
    ),
)
