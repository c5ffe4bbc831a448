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
    first=("created",),
    content=_content,
    decisions=(
        *("approval_recorded", "quorum_reached", "rejected", "recalled"),
        *("resolution_recorded", "resolved", "release_ordered"),
    ),
    model=Withdrawal,
    sentences={
        "created": "{who} requested {it}.",
        "submitted": "{who} checked {it} and applied the rules.",
        "checks_failed": "{who} ended {it}: its checks failed.",
        "judged_again": "{who} evaluated {it} again by newer rules.",
        "approval_recorded": "{who} approved {it}. It needs more approvals.",
        "quorum_reached": "{who} gave the last approval for {it}.",
        "hold_claimed": "{who} sent the request for a hold of {it} to the exchange.",
        "hold_accepted": "{who} recorded the reservation of {it} by the exchange.",
        "hold_refused": "{who} ended {it}: the exchange refused the hold.",
        "hold_not_sent": "{who} noted that the reservation request of {it} was not sent.",
        "hold_unknown": "{who} noted that the answer about the hold of {it} was lost.",
        "hold_adopted": "{who} identified the hold of {it} in the ledger.",
        "hold_not_found": "{who} noted that the ledger has no hold of {it}.",
        "hold_ambiguous": "{who} noted that the ledger has several possible holds of {it}.",
        "echo_agrees": "{who} compared the exchange's record of {it}: it agrees.",
        "echo_differs": "{who} stopped {it}: the exchange's record differs.",
        "executed_without_us": "{who} noted that the exchange paid {it} without an order of this desk.",
        "rejected": "{who} rejected {it}.",
        "cancelled": "{who} cancelled {it}.",
        "time_over": "{who} let {it} expire.",
        "frozen": "{who} stopped {it}: the account is frozen.",
        "policy_changed": "{who} stopped {it}: the rules changed.",
        "fee_drifted": "{who} stopped {it}: the fee changed.",
        "fee_rose": "{who} returned {it} to the approvers: the network fee rose.",
        "ended_at_exchange": "{who} noted that {it} ended at the exchange.",
        "recalled": "{who} recalled {it}.",
        "commit_claimed": "{who} sent the order to pay {it} to the exchange.",
        "commit_confirmed": "{who} noted that the exchange accepted the order to pay {it}.",
        "commit_unconfirmed": "{who} noted that the order to pay {it} is not confirmed yet.",
        "commit_stopped": "{who} stopped the order to pay {it}: it was too late to send it again.",
        "commit_not_carried_out": "{who} noted that the exchange did not carry out the order to pay {it}.",
        "still_unclear": "{who} checked {it}: whether it was paid is still unclear.",
        "rollback_claimed": "{who} sent the release of {it} to the exchange.",
        "released": "{who} noted that the exchange released {it}.",
        "rollback_unconfirmed": "{who} noted that the release of {it} is not confirmed yet.",
        "escalated": "{who} passed {it} to treasury for review.",
        "paid_anyway": "{who} noted that {it} was paid although it should be released.",
        "hash_seen": "{who} recorded the chain transaction of {it}.",
        "exchange_succeeded": "{who} noted that the exchange reports {it} as paid.",
        "exchange_failed": "{who} noted that the exchange reports a failure of {it}.",
        "proven": "{who} proved {it} on the chain.",
        "proof_lost": "{who} noted that the proof of {it} on the chain is lost.",
        "proven_again": "{who} proved {it} on the chain again.",
        "resolution_recorded": "{who} gave a finding on {it}. A second person has to agree.",
        "resolved": "{who} gave the second finding on {it} and closed it.",
        "release_ordered": "{who} ordered the release of the hold of {it}.",
        "orphan_released": "{who} sent the release of a second hold of {it} to the exchange.",
    },
)
