"""The words for the events of calls with a key in the audit trail."""

from collections.abc import Collection, Mapping
from typing import Final

from desk.audit.words import Words, short


def _names(keys: Collection[str]) -> Mapping[str, str]:
    return {key: short(key.rpartition(":")[2]) for key in keys}


WORDS: Final = Words(
    name="chain",
    title="Token requests",
    noun="",
    subject="chain-address",
    naming=_names,
    sentences={"keyed_call": "{who} made a token request from {it}: {call}, {state}."},
)
