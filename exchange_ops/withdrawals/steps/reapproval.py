"""Giving a hold back to the people who approve, with its money still reserved.

Either the exchange's fee rose above the highest that was approved, or an earlier version of the desk signed the
content. Nothing was forged, so nothing is frozen and nothing is released: the row gets another digest, for which no
vote counts yet, and keeps its hold, its hour and its history.
"""

from datetime import datetime
from typing import Any

from desk.machines.table import NONE
from exchange_ops.withdrawals import deadlines, machine, states
from exchange_ops.withdrawals.decisions import fee_limits, policy_evaluation
from exchange_ops.withdrawals.evidence.ledger_lookup import PayoutVersion
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.steps import echo
from wire.values import grouped_text

_UNDECIDED: dict[str, Any] = {"decision": NONE, "decided_by": None, "decided_at": None, "lease_until": None}


def for_fee(row: Withdrawal, record: PayoutVersion, *, now: datetime, **columns: Any) -> None:
    """Move 32: the fee of the exchange's record is above the highest that was approved; both figures are kept.

    The row has to be signed by the desk and nothing may be ordered yet; every other field of the record agrees.
    """
    fee = row.amount - record.amount if record.fee is None else record.fee
    limit = fee_limits.of_request(row, estimate=fee, now=now)
    signed: dict[str, Any] = {"fee_estimate": fee, "fee_estimated_at": now, "fee_limit": limit}
    approved = "nothing" if row.fee_limit is None else f"{grouped_text(row.fee_limit)} {row.currency}"
    sentence = (
        f"The funds stay reserved. The network fee rose to {grouped_text(fee)} {row.currency}; the "
        f"approved maximum was {approved}. New approvals cover at most {grouped_text(limit)} "
        f"{row.currency}."
    )
    machine.move(
        row,
        event="fee_rose",
        to=states.HELD,
        now=now,
        next_action_at=now,
        last_problem=sentence[:500],
        evidence={"approved_at_most": row.fee_limit, "fee": fee, "at_most": limit, **record.facts()},
        earlier_fee_limit=row.fee_limit,
        fee=record.fee,
        echo=echo.compare(row, record, fee_limit=limit).items,
        echo_ok=True,
        digest=policy_evaluation.signed(row, **signed),
        **signed,
        **_UNDECIDED,
        **deadlines.with_earlier(row, record.created_at),
        **columns,
    )


def for_older_form(row: Withdrawal, *, now: datetime, again: datetime) -> None:
    """Move 33: judged by the rules in force and signed anew, what an earlier version of the desk had signed.

    Where the rules forbid it now, it stays as it is, is looked at `again`, and ends with its hour.
    """
    verdict, columns = policy_evaluation.evaluate(row, now=now)
    if verdict.blocked:
        machine.touch(row, next_action_at=again, last_problem=verdict.blocked[:500])
        return
    machine.move(
        row,
        event="judged_again",
        to=states.HELD,
        now=now,
        next_action_at=now,
        last_problem=(
            "The funds stay reserved. Countersign was upgraded, so earlier approvals don't count. Approve again."
        ),
        evidence={"trace": columns["policy_trace"]},
        **_UNDECIDED,
        **columns,
    )
