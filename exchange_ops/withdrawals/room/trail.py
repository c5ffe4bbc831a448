"""The words for the events of payouts in the audit trail."""

from typing import Final

from desk.audit.words import Facts, Words, money
from exchange_ops.withdrawals.models import Withdrawal


def _content(facts: Facts) -> str:
    return money(facts, to=str(facts.get("address") or ""))


WORDS: Final = Words(
    name="withdrawal",
    title="Payouts",
    noun="payout",
    mark="W-",
    also=("evidence",),
    first=("created",),
    content=_content,
    decisions=(
        *("approval_recorded", "quorum_reached", "rejected", "recalled"),
        *("resolution_recorded", "resolved", "release_ordered"),
    ),
    model=Withdrawal,
    sentences={
        "created": "{who} requested {it}.",
        "submitted": "{who} checked {it} and applied the policy.",
        "checks_failed": "{who} ended {it}: its checks failed.",
        "judged_again": "{who} re-evaluated {it} under a newer policy.",
        "approval_recorded": "{who} approved {it}. It needs more approvals.",
        "quorum_reached": "{who} gave the final approval for {it}.",
        "hold_claimed": "{who} sent the reservation request for {it} to the exchange.",
        "hold_accepted": "{who} recorded that the exchange reserved the funds for {it}.",
        "hold_refused": "{who} ended {it}: the exchange rejected the hold.",
        "hold_not_sent": "{who} noted that the reservation request for {it} was not sent.",
        "hold_unknown": "{who} noted that the response about the hold for {it} was lost.",
        "hold_adopted": "{who} identified the hold for {it} in the ledger.",
        "hold_not_found": "{who} noted that the ledger has no hold for {it}.",
        "hold_ambiguous": "{who} noted that the ledger has several possible holds for {it}.",
        "echo_agrees": "{who} compared {it} with the exchange's record: they match.",
        "echo_differs": "{who} stopped {it}: the exchange's record differs.",
        "executed_without_us": "{who} noted that the exchange paid {it} without an order from Countersign.",
        "rejected": "{who} rejected {it}.",
        "cancelled": "{who} cancelled {it}.",
        "time_over": "{who} let {it} expire.",
        "frozen": "{who} stopped {it}: the account is frozen.",
        "policy_changed": "{who} stopped {it}: the policy changed.",
        "fee_drifted": "{who} stopped {it}: the fee changed.",
        "fee_rose": "{who} returned {it} to the approvers: the network fee rose.",
        "ended_at_exchange": "{who} noted that {it} ended at the exchange.",
        "recalled": "{who} recalled {it}.",
        "commit_claimed": "{who} sent the payment order for {it} to the exchange.",
        "commit_confirmed": "{who} noted that the exchange accepted the payment order for {it}.",
        "commit_unconfirmed": "{who} noted that the payment order for {it} is not confirmed yet.",
        "commit_stopped": "{who} stopped the payment order for {it}: it was too late to send it again.",
        "commit_not_carried_out": "{who} noted that the exchange did not execute the payment order for {it}.",
        "still_unclear": "{who} checked {it}: whether it was paid is still unclear.",
        "rollback_claimed": "{who} sent the release of {it} to the exchange.",
        "released": "{who} noted that the exchange released {it}.",
        "rollback_unconfirmed": "{who} noted that the release of {it} is not confirmed yet.",
        "escalated": "{who} passed {it} to treasury for review.",
        "paid_anyway": "{who} noted that {it} was paid although it should have been released.",
        "hash_seen": "{who} recorded the on-chain transaction for {it}.",
        "exchange_succeeded": "{who} noted that the exchange reports {it} as paid.",
        "exchange_failed": "{who} noted that the exchange reports that {it} failed.",
        "proven": "{who} proved {it} on-chain.",
        "proof_lost": "{who} noted that the on-chain proof of {it} was lost.",
        "proven_again": "{who} proved {it} on-chain again.",
        "resolution_recorded": "{who} submitted a finding on {it}. A second person must agree.",
        "resolved": "{who} submitted the second finding on {it} and closed it.",
        "release_ordered": "{who} ordered the release of the hold for {it}.",
        "evidence_exported": "{who} exported the evidence of {it}.",
        "orphan_released": "{who} sent the release of a second hold for {it} to the exchange.",
    },
)

TEMPLATE_WORDS: Final = Words(
    name="payout_template",
    title="Payout templates",
    noun="payout template",
    mark="PT-",
    first=("saved",),
    content=lambda facts: str(facts.get("name", "")),
    sentences={"saved": "{who} saved {it}.", "removed": "{who} removed {it}."},
)

SCHEDULE_WORDS: Final = Words(
    name="payout_schedule",
    title="Payout schedules",
    noun="payout schedule",
    mark="PS-",
    first=("set_up",),
    content=lambda facts: str(facts.get("template_name", "")),
    sentences={
        "set_up": "{who} set up {it}.",
        "requested": "{who} requested a payout for {it}.",
        "refused": "{who} did not request a payout for {it}: a check failed.",
        "missed": "{who} recorded a missed occurrence of {it}.",
        "skipped": "{who} skipped an occurrence of {it}.",
        "ended": "{who} ended {it}.",
    },
)
