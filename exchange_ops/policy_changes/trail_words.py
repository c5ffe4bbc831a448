"""The words for the events of changes of the rules in the audit trail."""

from typing import Final

from desk.audit.words import Words

WORDS: Final = Words(
    name="policychange",
    title="Rules",
    noun="rule change",
    mark="R-",
    first=("proposed",),
    content=lambda facts: str(facts.get("reason", "")),
    decisions=("agreed", "published", "rejected"),
    sentences={
        "proposed": "{who} proposed {it}.",
        "agreed": "{who} approved {it}. It takes effect later.",
        "published": "{who} put {it} into effect.",
        "rejected": "{who} rejected {it}.",
        "withdrawn": "{who} withdrew {it}.",
        "expired": "{who} ended {it}: it expired.",
        "overtaken": "{who} ended {it}: another rule change was published first.",
    },
)
