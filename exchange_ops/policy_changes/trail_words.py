"""The words for the events of changes of the rules in the audit trail."""

from typing import Final

from desk.audit.words import Words

WORDS: Final = Words(
    name="policychange",
    title="Rules",
    noun="change of the rules",
    mark="R-",
    first=("proposed",),
    content=lambda facts: str(facts.get("reason", "")),
    decisions=("agreed", "published", "rejected"),
    sentences={
        "proposed": "{who} proposed {it}.",
        "agreed": "{who} approved {it}. It comes into force later.",
        "published": "{who} put {it} in force.",
        "rejected": "{who} rejected {it}.",
        "withdrawn": "{who} withdrew {it}.",
        "expired": "{who} let {it} expire.",
        "overtaken": "{who} ended {it}: other rules came into force.",
    },
)
