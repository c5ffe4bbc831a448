"""Evaluating a transfer by the rules in force: value, quorum and the digest that people sign.

Only money that leaves for others needs approvals, by the rules of withdrawals; a name that looks like a known one needs
one person more. Every other kind stays within the company and needs none.
"""

from datetime import datetime
from decimal import Decimal
from typing import Any

from exchange_ops.policy import freezes, quorum
from exchange_ops.transfers import identifiers
from exchange_ops.transfers.models import Transfer
from exchange_ops.withdrawals.decisions import digest, policy_evaluation
from exchange_ops.withdrawals.decisions.intent import Intent

_FORM = "countersign-transfer-2"
_VALUE_COLUMNS = ("quote_value", "quote_currency", "quote_at", "policy_version")


def evaluate(transfer: Transfer, *, now: datetime) -> tuple[str, dict[str, Any]]:
    """Why the rules forbid it (or an empty text), and the columns to move it with, digest included."""
    verdict, payout_columns = policy_evaluation.verdict_on(intent_of(transfer), now=now)
    columns: dict[str, Any] = {name: payout_columns[name] for name in _VALUE_COLUMNS}
    columns["lookalikes"] = _lookalikes(transfer)
    if transfer.leaves:
        # The second sentence of a verdict is about the order of hold and approval: a transfer has no hold.
        trace = [verdict.trace[0], *_warnings(transfer, columns["lookalikes"]), *payout_columns["policy_trace"][2:]]
        columns |= {"quorum_required": verdict.approvals + bool(columns["lookalikes"]), "policy_trace": trace}
        columns["group_needs"] = payout_columns["group_needs"]
    else:
        columns |= {"quorum_required": 0, "group_needs": None}
        columns |= {"policy_trace": ["No approval required: the money stays within the company."]}
    columns["digest"] = digest_of(transfer, **columns)
    return (verdict.blocked or "") if transfer.leaves else "", columns


def still_holds(transfer: Transfer) -> bool:
    """Whether the digest still matches this content after the last freeze, and the rules in force decide on the account
    as those did that it was judged by."""
    if transfer.leaves and not quorum.is_in_force(number=transfer.policy_version, account_id=transfer.account_id):
        return False
    return transfer.digest in digest.digests(_content(transfer))


def digest_of(transfer: Transfer, **changes: Any) -> str:
    """HMAC-SHA256 in hex over the transfer's content, what the rules say about its account and what they required, and
    the number of the last freeze."""
    return digest.digests(_content(transfer, **changes))[0]


def _content(transfer: Transfer, **changes: Any) -> dict[str, Any]:
    number = changes.get("policy_version", transfer.policy_version)
    rules = quorum.judging(number=number, account_id=transfer.account_id) if transfer.leaves else []
    freeze = freezes.latest_number(transfer.movement)
    named = {"form": _FORM, "id": transfer.pk, "freeze": freeze, "rules": rules}
    return digest.signed_content(transfer, **changes) | named


def intent_of(transfer: Transfer) -> Intent:
    """What is judged of it; the fee of a transfer to another user is zero."""
    return Intent(
        account=transfer.account,
        currency=transfer.currency,
        amount=transfer.amount,
        address=transfer.identifier,
        payment_id=transfer.by if transfer.leaves else None,
        number=transfer.pk,
        source=Transfer.name,
        requester=transfer.initiator,
        fee=Decimal(0),
        requested_at=transfer.created_at,
    )


def _lookalikes(transfer: Transfer) -> list[str]:
    if not transfer.leaves:
        return []
    return identifiers.lookalikes(account=transfer.account, by=transfer.by, identifier=transfer.identifier)


def _warnings(transfer: Transfer, lookalikes: list[str]) -> list[str]:
    if lookalikes:
        return [f"1 additional approval: the name resembles {', '.join(lookalikes)} but is not the same."]
    is_known = identifiers.is_known(account=transfer.account, by=transfer.by, identifier=transfer.identifier)
    return [] if is_known else ["First transfer to this recipient."]
