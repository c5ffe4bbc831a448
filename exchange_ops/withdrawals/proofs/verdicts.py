"""What a check of the chain means for a withdrawal: moves 26, 27 and 31 of its table.

A proof makes a paid one a proven one. A lost proof, a transaction that pays something else, and one that does not exist
make it disputed. The machine ends a dispute only if a lost proof began it, nobody has given a verdict yet, and the
chain has the payment again; all other disputes are for people.
"""

from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction

from chaindata.proofs.verification import Verdict
from desk.machines import decisions
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.withdrawals import machine, states
from exchange_ops.withdrawals.decisions import alarms
from exchange_ops.withdrawals.evidence import ledger_lookup
from exchange_ops.withdrawals.models import ABSENT, PROVEN, WRONG, Withdrawal

ABSENT_FOR = timedelta(minutes=10)  # until an alarm for a payment that is reported as paid and that no node knows
_log = structlog.get_logger(__name__)


def is_deep(*, state: str, depth: int) -> bool:
    """Whether a proof counts: as deep as the setting PAYOUT_PROOF_DEPTH asks."""
    return state == PROVEN and depth >= settings.PAYOUT_PROOF_DEPTH


def judge(
    row: Withdrawal, proof_columns: dict[str, Any], *, was_replaced: bool, verdict: Verdict, now: datetime
) -> None:
    """Move the row on if the check requires it; `proof_columns` is what is stored of it. Raises `CannotMove`."""
    report = "Exchange reports sent" if row.state == states.SENT else "Exchange reports paid"
    if is_deep(state=proof_columns["standing"], depth=proof_columns["depth"]):
        _prove(row, verdict, now)
    elif proof_columns["standing"] == WRONG and row.state != states.DISPUTED:
        _dispute(row, f"{report}, but the chain differs: {verdict.sentence}", verdict, now, froze=True)
    elif was_replaced and (
        row.state == states.VERIFIED or (row.state == states.SETTLED and proof_columns["standing"] != PROVEN)
    ):
        reason = f"{report}, but its block is no longer on-chain. {verdict.sentence}"
        _dispute(row, reason, verdict, now, froze=False)
    elif (
        row.state == states.SETTLED
        and proof_columns["standing"] == ABSENT
        and now - proof_columns["absent_since"] >= ABSENT_FOR
    ):
        minutes = int(ABSENT_FOR.total_seconds() // 60)
        reason = f"{report}, but no such transaction has appeared on-chain for {minutes} minutes."
        _dispute(row, reason, verdict, now, froze=True)


def _prove(row: Withdrawal, verdict: Verdict, now: datetime) -> None:
    if row.state == states.SETTLED:
        machine.move(row, event="proven", to=states.VERIFIED, now=now, evidence=_facts(verdict), last_problem="")
    elif row.state == states.DISPUTED and _is_still_reported_paid(row):
        with transaction.atomic():
            machine.move(
                row, event="proven_again", to=states.VERIFIED, now=now, evidence=_facts(verdict), last_problem=""
            )
            decisions.announce(row)


def _dispute(row: Withdrawal, reason: str, verdict: Verdict, now: datetime, *, froze: bool) -> None:
    """Move 27, with an alarm. What nobody approved also freezes the account; a reorganisation is nobody's doing."""
    arguments: dict[str, Any] = {"event": "proof_lost", "to": "disputed", "now": now, "evidence": _facts(verdict)}
    _log.warning("payouts.disputed", withdrawal=row.pk, reason=reason, froze=froze)
    with transaction.atomic():
        if froze:
            alarms.move_and_freeze(row, reason=reason, **arguments)
        else:
            machine.move(row, last_problem=reason[:500], **arguments)
        decisions.announce(row)


def _is_still_reported_paid(row: Withdrawal) -> bool:
    """Whether the exchange's newest record still says success."""
    entry = LedgerEntry.objects.filter(withdrawal=row).order_by("-index").first()
    newest: str = row.exchange_status if entry is None else entry.status
    return newest == ledger_lookup.DONE


def _facts(verdict: Verdict) -> dict[str, Any]:
    return {
        "transaction": verdict.txid,
        "output": verdict.output,
        "block": verdict.block_hash,
        "height": verdict.height,
        "depth": verdict.depth,
        "steps": [f"{'holds' if step.holds else 'FAILS'}: {step.sentence}" for step in verdict.steps],
    }
