"""The words for the events of API keys of the exchange in the audit trail."""

from typing import Final

from desk.audit.words import Words
from exchange_ops.keys.models import ApiKey

WORDS: Final = Words(
    name="apikey",
    title="API keys",
    noun="API key no.",
    first=("added", "successor_added"),
    content=lambda facts: str(facts.get("label", "")),
    model=ApiKey,
    sentences={
        "added": "{who} added {it}.",
        "successor_added": "{who} added {it} as the replacement for another key.",
        "probe_asked": "{who} requested a check of {it} at the exchange.",
        "probed": "{who} checked {it} at the exchange.",
        "handed_over": "{who} replaced {it} with a new key.",
        "took_over": "{who} switched to {it} from the old key.",
        "rotation_ended": "{who} cancelled the rotation of {it}, which stays in use.",
        "disabled": "{who} disabled {it}.",
    },
)
