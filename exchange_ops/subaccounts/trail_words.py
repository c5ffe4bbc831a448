"""The words for the events of sub-accounts in the audit trail."""

from collections.abc import Collection, Mapping
from typing import Final

from desk.audit.words import Words
from exchange_ops.subaccounts import states
from exchange_ops.subaccounts.models import SubAccount

_DONE: Final = {
    states.FREEZE: ("the freeze", "the freeze"),
    states.ACTIVATE: ("the activation", "the activation"),
    states.SETTINGS: ("a change to the payout settings", "the change to the payout settings"),
}
_EVENTS: Final = {
    "created": "{{who}} requested {a} of {{it}}.",
    "claimed": "{{who}} sent {the} of {{it}} to the exchange.",
    "accepted": "{{who}} noted that the exchange accepted {the} of {{it}}.",
    "refused": "{{who}} noted that the exchange rejected {the} of {{it}}.",
    "not_sent": "{{who}} noted that {the} of {{it}} was not sent.",
    "lost": "{{who}} noted that there was no response to {the} of {{it}}.",
    "seen": "{{who}} confirmed {the} of {{it}} at the exchange.",
    "seen_unchanged": "{{who}} noted that the exchange does not show {the} of {{it}}.",
    "taken_back": "{{who}} withdrew {the} of {{it}}.",
}


def _names(keys: Collection[str]) -> Mapping[str, str]:
    return {key: f"sub-account {key}" for key in keys}


WORDS: Final = Words(
    name="subaccount",
    title="Sub-accounts",
    noun="sub-account",
    naming=_names,
    model=SubAccount,
    key="exchange_id",
    sentences={
        f"{kind}_{event}": text.format(a=a, the=the)
        for kind, (a, the) in _DONE.items()
        for event, text in _EVENTS.items()
    },
)
