"""The words for the events of raw transactions in the audit trail."""

from typing import Final

from desk.audit.words import Words, short

WORDS: Final = Words(
    name="chain-broadcast",
    title="Raw transactions",
    noun="transaction",
    mark="B-",
    first=("asked",),
    content=lambda facts: short(str(facts.get("txid", ""))),
    decisions=("asked",),
    sentences={
        "asked": "{who} requested the broadcast of {it}.",
        "claimed": "{who} sent {it} to the chain-data service.",
        "stopped": "{who} stopped {it} before it was sent.",
        "accepted": "{who} noted that the network accepted {it}.",
        "refused": "{who} noted that the network rejected {it}.",
        "not_sent": "{who} noted that {it} was not sent.",
        "answer_lost": "{who} noted that the response for {it} was lost.",
        "found": "{who} found {it} on the network.",
        "not_seen": "{who} noted that the network does not have {it}.",
    },
)
