"""What the page of a withdrawal says about the chain: what happened to the money first, then how that is known."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings

from chaindata.headers import tips
from desk.machines.table import Tone
from exchange_ops.withdrawals import models, states
from exchange_ops.withdrawals.models import PayoutProof, Withdrawal, WithdrawalEvent
from exchange_ops.withdrawals.proofs import payouts, verdicts

_AFTER = frozenset(
    {
        states.COMMITTED,
        states.SENT,
        states.SETTLED,
        states.VERIFIED,
        states.DISPUTED,
        states.RESOLVED_PAID,
        states.RESOLVED_NOT_PAID,
    }
)
_BLOCK_LEFT = (
    Tone.BAD,
    "No longer on-chain",
    "The payment is unconfirmed again: its block was removed by a chain reorganisation.",
)
_MAY_RETURN = (models.WAITING, models.ABSENT, models.BLOCK_LEFT)
_UNPROVEN = {
    models.WAITING: (Tone.ACTIVE, "Unconfirmed", "Broadcast, not in a block yet."),
    models.ABSENT: (Tone.WARN, "Not on-chain", "No on-chain transaction yet."),
    models.WRONG: (Tone.BAD, "Payment differs", "The on-chain payment differs from the request."),
    models.NOT_PROVEN: (Tone.WARN, "Not proven", "The payment is not proven on-chain."),
    models.BLOCK_LEFT: _BLOCK_LEFT,
}


@dataclass(frozen=True, slots=True)
class ChainStatus:
    """What is shown. `proof` is the row of the last check; None where there can be none or none was made yet.

    `waits_for_machine` says that a dispute ends by itself when the chain has the payment again. `is_late` is true when
    what is shown is older than the newest block.
    """

    tone: str
    label: str
    sentence: str
    proof: PayoutProof | None = None
    waits_for_machine: bool = False
    is_late: bool = False


def chain_status(row: Withdrawal, *, now: datetime) -> ChainStatus | None:
    """What to say about a withdrawal now; None before the exchange accepted the order to pay."""
    if row.state not in _AFTER:
        return None
    if row.currency != payouts.COIN:
        sentence = "only the exchange's report is available"
        return ChainStatus(
            Tone.QUIET,
            "Not verifiable on-chain",
            f"On-chain verification is available for {payouts.COIN} only; {sentence}.",
        )
    proof = PayoutProof.objects.filter(withdrawal=row).first()
    if not row.hash:
        return ChainStatus(Tone.ACTIVE, "Not on-chain yet", "The exchange has not returned a transaction hash yet.")
    if proof is None or proof.standing == models.UNSEEN:
        sentence = "The exchange returned the transaction hash; the chain has not been checked yet."
        return ChainStatus(Tone.ACTIVE, "Searching the chain", sentence, proof)
    tone, label, sentence = _words(row, proof)
    newest_tip = tips.tip(now)
    is_late = proof.final_at is None and newest_tip is not None and newest_tip.hash != proof.tip_hash
    return ChainStatus(tone, label, sentence, proof, _may_come_back(row, proof), is_late)


def _words(row: Withdrawal, proof: PayoutProof) -> tuple[str, str, str]:
    blocks = f"{proof.depth} confirmation{'' if proof.depth == 1 else 's'}"
    if verdicts.is_deep(state=proof.standing, depth=proof.depth):
        end = " Final: rechecked only if a chain reorganisation reaches this block."
        sentence = f"The address received the exact amount ({blocks}), and Countersign verified the proof."
        return Tone.GOOD, "Proven", sentence + (end if proof.final_at else "")
    if proof.standing == models.PROVEN:
        sentence = f"The address received the exact amount ({blocks}). "
        return (
            Tone.ACTIVE,
            "In a block",
            f"{sentence}It counts as proven after {settings.PAYOUT_PROOF_DEPTH} confirmations.",
        )
    was_there = bool(proof.block_hash) and proof.standing in _MAY_RETURN
    tone, label, sentence = _BLOCK_LEFT if was_there else _UNPROVEN[proof.standing]
    return tone, label, f"{sentence} {proof.sentence}"


def _may_come_back(row: Withdrawal, proof: PayoutProof) -> bool:
    last: Any = WithdrawalEvent.objects.filter(withdrawal=row, version=row.version).values_list("event", flat=True)
    return row.state == states.DISPUTED and proof.standing != models.WRONG and last.first() == "proof_lost"
