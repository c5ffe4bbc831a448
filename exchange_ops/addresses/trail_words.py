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
        "asked": "{who} created {it}.",
        "sending": "{who} sent {it} to the exchange.",
        "made": "{who} recorded the new address for {it}.",
        "refused": "{who} noted that the exchange rejected {it}.",
        "not_sent": "{who} noted that {it} was not sent.",
        "unknown": "{who} noted that there was no response to {it}.",
        "absent": "{who} noted that the exchange created no address for {it}.",
    },
)
