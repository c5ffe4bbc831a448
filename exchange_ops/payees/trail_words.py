"""The words for the events of payees in the audit trail."""

from typing import Final

from desk.audit.words import Words

WORDS: Final = Words(
    name="payee",
    title="Payees",
    noun="payee",
    mark="PY-",
    first=("added",),
    content=lambda facts: f"{facts.get('title', '')}: {facts.get('currency', '')} {facts.get('address', '')}",
    decisions=("approval_recorded", "quorum_reached", "rejected", "removed"),
    sentences={
        "added": "{who} added {it}.",
        "approval_recorded": "{who} approved {it}.",
        "quorum_reached": "{who} gave {it} its last approval. It counts 24 hours later.",
        "rejected": "{who} rejected {it}.",
        "withdrawn": "{who} withdrew {it}.",
        "lapsed": "{who} ended {it}: it was not approved in time.",
        "activated": "{who} put {it} into effect.",
        "removed": "{who} removed {it}.",
        "expired": "{who} ended {it}: it expired.",
        "renewed": "{who} ended {it}: its renewal counts from now on.",
    },
)
