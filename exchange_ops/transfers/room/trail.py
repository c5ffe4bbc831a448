"""The words for the events of transfers in the audit trail."""

from typing import Final

from desk.audit.words import Facts, Words, money
from exchange_ops.transfers import states
from exchange_ops.transfers.models import Transfer


def _content(facts: Facts) -> str:
    kind = states.KINDS.get(str(facts.get("kind")), "")
    return f"{money(facts)}, {kind[:1].lower()}{kind[1:]}".strip(", ")


WORDS: Final = Words(
    name="transfer",
    title="Transfers",
    noun="transfer",
    mark="T-",
    first=("created", "issued_anew"),
    content=_content,
    decisions=("approval_recorded", "quorum_reached", "rejected", "resolution_recorded", "resolved", "closed"),
    model=Transfer,
    sentences={
        "created": "{who} requested {it}.",
        "submitted": "{who} checked {it} and applied the policy.",
        "judged_again": "{who} re-evaluated {it} under a newer policy.",
        "approval_recorded": "{who} approved {it}. It needs more approvals.",
        "quorum_reached": "{who} gave the final approval for {it}.",
        "rejected": "{who} rejected {it}.",
        "cancelled": "{who} cancelled {it}.",
        "lapsed": "{who} ended {it}: it was too old to be sent.",
        "send_claimed": "{who} sent {it} to the exchange.",
        "accepted": "{who} noted that the exchange executed {it}.",
        "refused": "{who} ended {it}: the exchange rejected it.",
        "not_sent": "{who} noted that {it} was not sent.",
        "outcome_unknown": "{who} noted that the response about {it} was lost.",
        "found": "{who} identified {it} in the ledger.",
        "ambiguous": "{who} noted that the ledger has several entries that may be {it}.",
        "not_found": "{who} noted that the ledger has no entry for {it}.",
        "seen_before_sending": "{who} noted that {it} was in the ledger before it was sent.",
        "appeared_late": "{who} noted that {it} appeared late in the ledger.",
        "listed": "{who} confirmed {it} by its ledger entry.",
        "not_listed": "{who} noted that the ledger does not list {it}.",
        "listed_differently": "{who} noted that the ledger lists {it} differently.",
        "issued_anew": "{who} requested {it} again.",
        "closed": "{who} closed {it}.",
        "resolution_recorded": "{who} submitted a finding on {it}. A second person must agree.",
        "resolved": "{who} submitted the second finding on {it} and closed it.",
    },
)
