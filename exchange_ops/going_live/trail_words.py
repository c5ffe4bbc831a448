"""The words for the events of going live in the audit trail."""

from collections.abc import Collection, Mapping
from typing import Final

from desk.audit.words import Words


def _names(keys: Collection[str]) -> Mapping[str, str]:
    return {key: f"“{key.replace('-', ' ')}”" for key in keys}


WORDS: Final = Words(
    name="going-live",
    title="Going live",
    noun="",
    naming=_names,
    sentences={
        "confirmed": "{who} confirmed {it}: {says}",
        "trial-signed": "{who} made a trial signature with a passkey.",
    },
)
