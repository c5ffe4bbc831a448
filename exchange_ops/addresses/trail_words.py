"""The words for the events of requests for deposit addresses in the audit trail."""

from typing import Final

from desk.audit.words import Words
from exchange_ops.addresses.models import AddressRequest

WORDS: Final = Words(
    name="addressrequest",
    title="Deposit addresses",
    noun="deposit address request no.",
    first=("asked",),
    content=lambda facts: str(facts.get("currency", "")),
    model=AddressRequest,
    sentences={
        "asked": "{who} made {it}.",
        "sending": "{who} sent {it} to the exchange.",
        "made": "{who} recorded the new address of {it}.",
        "refused": "{who} noted that the exchange refused {it}.",
        "not_sent": "{who} noted that {it} did not leave the desk.",
        "unknown": "{who} noted that the answer about {it} was lost.",
        "absent": "{who} noted that the exchange made no address for {it}.",
    },
)
